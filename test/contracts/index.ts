/** The contracts of all ports, which a program with an adapter of its own imports from `tandem/contracts`. ADR 0019. */
export { aUser, NOW } from '../support/builders.ts';
export { type Absent, absent } from './hooks.ts';
export { inThread } from './in-thread.ts';
export type { AttemptsStore } from './login-attempts/store.ts';
export { describeLoginAttempts } from './login-attempts.contract.ts';
export type { MailStore, Received } from './mailer/store.ts';
export { describeMailer } from './mailer.contract.ts';
export { describePasswordHasher } from './password-hasher.contract.ts';
export type { Database } from './records/database.ts';
export { describeRecords } from './records.contract.ts';
export type { HeldStore, OpenedStorage } from './storage/given.ts';
export type { OpenedUsers } from './storage/given-users.ts';
export { describeSessionRepository, describeStorage, describeUserRepository } from './storage.contract.ts';
export { describeTokenSigner } from './token-signer.contract.ts';
export { describeWebAuthn } from './webauthn.contract.ts';
