/**
 * The exports of this package: functions such as `serve`, and what a program needs for parts of its own, such as adapters and routes.
 * `docs/own-store.md` explains a storage of one's own, `examples/own-store` is one; the tests of its contract are in `tandem/contracts`.
 *
 * @example
 * import { parseConfig, serve } from 'tandem';
 *
 * await serve(parseConfig(process.env));
 */
export type { Check } from './adapters/http/request/settings.ts';
export { type Route, route } from './adapters/http/routing/define-route.ts';
export { memoryRecords, memoryStorage } from './adapters/records/memory.ts';
export type { OwnTable, OwnTables, RowsOf } from './adapters/records/own-tables.ts';
export {
  type Calls,
  ConflictError,
  firstVersion,
  isStorable,
  recordsOver,
  storageOver,
  storesOver,
  type Transact,
  unstorable,
} from './adapters/records/storage.ts';
export type * from './application/ports/clock-and-ids.ts';
export type {
  ClaimsSession,
  ClaimsUser,
  Hooks,
  RegistrationAnswer,
  RegistrationRequest,
} from './application/ports/hooks.ts';
export type * from './application/ports/login-attempts.ts';
export type * from './application/ports/mailer.ts';
export type * from './application/ports/password-hasher.ts';
export type { BrowserProof, ProofOutcome, Proofs, ProofTarget } from './application/ports/proofs.ts';
export type { FactorSecrets, Secrets, SignedPurpose, SignedValue } from './application/ports/secrets.ts';
export type * from './application/ports/session-repository.ts';
export type * from './application/ports/token-signer.ts';
/** The name of `Verification` in version 1.0. */
export type { Verification as Verified } from './application/ports/token-signer.ts';
export type * from './application/ports/user-repository.ts';
export type * from './application/ports/webauthn.ts';
export type { Ports } from './application/service.ts';
export {
  type Equal,
  type OwnRecords,
  type Query,
  type Records,
  type Storage,
  type Stored,
  type Stores,
  type Transactions,
  violates,
  violation,
} from './application/storage/records.ts';
export {
  type AnyTable,
  type Column,
  type ColumnType,
  keyName,
  TABLES,
  type TableName,
  type Tables,
  uniquesOf,
} from './application/storage/tables.ts';
export {
  type Amr,
  type Authenticated,
  type Authentication,
  amrAfter,
  type Method,
} from './domain/assurance.ts';
export {
  type Binding,
  type Device,
  type DeviceBinding,
  type DeviceKeys,
  type DeviceProof,
  type Evidence,
  type RememberedDevice,
  type RememberedDeviceKey,
  withProof,
} from './domain/device.ts';
export { AppError, type AppErrorOptions, duplicateUser } from './domain/errors/app-error.ts';
export type { ErrorCode, OwnErrorCode } from './domain/errors/catalog.ts';
export type { OwnError } from './domain/errors/own-errors.ts';
export {
  type AccountEvent,
  countingPeriodOf,
  EVENT_KINDS,
  EVENTS_KEPT,
  type EventKind,
  type Origin,
  SESSION_ENDINGS,
  type SessionEnding,
} from './domain/event.ts';
export { LINK_PURPOSES, type Link, type LinkPurpose } from './domain/link.ts';
export type { ThrottledClient } from './domain/login-throttle.ts';
export { isRequest, MESSAGE_KINDS, type Message, type MessageKind, SECRET_KINDS } from './domain/message.ts';
export type { Passkey, PasskeyKey, PasskeyState } from './domain/passkey.ts';
export { isHashable } from './domain/password.ts';
export type { Factor, FactorKey } from './domain/second-factor.ts';
export {
  byLastUse,
  isLive,
  type PartWithUser,
  partWithUser,
  type RotatedSession,
  type Rotation,
  type RotationOutcome,
  reverted,
  rotated,
  SESSIONS_PER_USER,
  type Session,
  type SessionKey,
} from './domain/session.ts';
export type { AccessClaims, RefreshClaims } from './domain/tokens.ts';
export type { ChangeableFields, ComparableFields, User, UserInTokens } from './domain/user.ts';
export { canonicalEmail, canonicalUsername, isId } from './domain/user.ts';
export { manageUsers } from './infrastructure/commands/run.ts';
export type { Overrides, PortOverrides, ServiceWith } from './infrastructure/compose/ports.ts';
export { type Config, ConfigError, parseConfig } from './infrastructure/config.ts';
export { migrate, open } from './infrastructure/open.ts';
export { serve } from './infrastructure/serve.ts';
