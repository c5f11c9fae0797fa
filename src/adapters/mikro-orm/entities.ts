import { defineEntity, p } from '@mikro-orm/core';
import type { AccountEvent, Origin } from '../../domain/event.ts';
import type { Link } from '../../domain/link.ts';
import type { Message } from '../../domain/message.ts';

/** Unique constraints that are violated when a user with the same name or email exists. */
export const USERNAME_KEY = 'users_username_canonical_key';
export const EMAIL_KEY = 'users_email_key';

/** The schema is built by the migrations; a test compares it with these entities. Times are epoch milliseconds. */
export const UserEntity = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.character().length(26).primary(),
    username: p.text(),
    usernameCanonical: p.text().unique(USERNAME_KEY),
    email: p.text().unique(EMAIL_KEY),
    passwordHash: p.text(),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
    passwordChangedAt: p.bigint('number').defaultRaw('0'),
    emailVerifiedAt: p.bigint('number').nullable(),
    disabledAt: p.bigint('number').nullable(),
    secondFactorAt: p.bigint('number').nullable(),
    /** JSON; null: none. */
    attributes: p.text().nullable(),
    locale: p.text().nullable(),
  },
});

/** The id of the user, with whom the row is deleted. */
const ofUser = (foreignKeyName: string) =>
  p
    .manyToOne(UserEntity)
    .mapToPk()
    .fieldName('user_id')
    .deleteRule('cascade')
    .updateRule('no action')
    .foreignKeyName(foreignKeyName);

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.character().length(26).primary(),
    userId: () => ofUser('sessions_user_id_fkey').index('sessions_user_id_index'),
    currentTokenId: p.character().length(26),
    previousTokenId: p.character().length(26).nullable(),
    rotatedAt: p.bigint('number'),
    /** Only for instances of the previous version; the next version drops it. */
    earlierTokens: p.json<readonly object[]>().default('[]'),
    rotation: p.bigint('number').defaultRaw('0'),
    /** Null in rows of the previous version. */
    runStartedAt: p.bigint('number').nullable(),
    runFirst: p.bigint('number').defaultRaw('0'),
    createdAt: p.bigint('number'),
    expiresAt: p.bigint('number'),
    /** When the purge checks the session next: at `expiresAt` or before. Refreshes do not change it (ADR 0017). */
    purgeCheckAt: p.bigint('number').defaultRaw('0').index('sessions_purge_check_at_index'),
    userAgent: p.text().nullable(),
    address: p.text().nullable(),
    deviceKey: p.text().nullable(),
    browserKey: p.text().nullable(),
    /** Sorted, the greatest first. */
    proofs: p.array(Number, String).columnType('bigint[]').defaultRaw("'{}'"),
    /** Null in rows of earlier versions, as the next one. */
    authenticatedAt: p.bigint('number').nullable(),
    /** Separated by spaces. */
    amr: p.text().nullable(),
    knownAt: p.bigint('number').nullable(),
    heldAt: p.bigint('number').nullable(),
  },
});

/** Refused log-ins of one user and period are counted in one row. */
const REFUSALS_KEY = 'events_user_id_refused_from_key';
/** Finds the devices of log-ins; log-ins on one device and period are counted in one row. Of a hash, since a user agent may be long. */
const DEVICE_KEY = `create unique index "events_device_key" on "events"
  ("user_id", (hashtextextended(coalesce("address", '') || ' ' || coalesce("user_agent", ''), 0)), "logged_in_from")`;

export const EventEntity = defineEntity({
  name: 'Event',
  tableName: 'events',
  uniques: [{ name: REFUSALS_KEY, properties: ['userId', 'refusedFrom'] }],
  indexes: [{ name: 'events_device_key', expression: DEVICE_KEY }],
  properties: {
    /** First in the primary key: otherwise PostgreSQL would search the events of all users for the latest of one. */
    userId: () => ofUser('events_user_id_fkey').primary(),
    id: p.character().length(26).primary(),
    kind: p.text().$type<AccountEvent['kind']>(),
    at: p.bigint('number').index('events_at_index'),
    sessionId: p.character().length(26).nullable(),
    reason: p.text().$type<NonNullable<AccountEvent['reason']>>().nullable(),
    count: p.integer().defaultRaw('1'),
    /** The start of the period of refused log-ins; `null` for other kinds. */
    refusedFrom: p.bigint('number').nullable(),
    /** The start of the period of log-ins on one device; `null` for other kinds. */
    loggedInFrom: p.bigint('number').nullable(),
    requestId: p.text().nullable(),
    userAgent: p.text().nullable(),
    address: p.text().nullable(),
    actor: p.text().nullable(),
  },
});

/** The events of operators that the service has not logged yet. Without a user's key: the deletion of the user is logged, too. */
const OperationEntity = defineEntity({
  name: 'Operation',
  tableName: 'operations',
  properties: {
    id: p.character().length(26).primary(),
    event: p.json<AccountEvent>(),
  },
});

export const LinkEntity = defineEntity({
  name: 'Link',
  tableName: 'links',
  properties: {
    userId: () => ofUser('links_user_id_fkey').primary(),
    purpose: p.text().$type<Link['purpose']>().primary(),
    since: p.bigint('number').defaultRaw('0').primary(),
    tokenHash: p.text().unique('links_token_hash_key'),
    email: p.text().index('links_email_index'),
    createdAt: p.bigint('number'),
    expiresAt: p.bigint('number').index('links_expires_at_index'),
  },
});

export const MessageEntity = defineEntity({
  name: 'Message',
  tableName: 'outbox',
  properties: {
    id: p.character().length(26).primary(),
    kind: p.text().$type<Message['kind']>(),
    userId: () => ofUser('outbox_user_id_fkey').nullable().index('outbox_user_id_index'),
    to: p.text(),
    email: p.text().nullable(),
    locale: p.text().nullable(),
    wasVerified: p.boolean().defaultRaw('false'),
    origin: p.json<Origin>(),
    createdAt: p.bigint('number'),
    attempts: p.integer().defaultRaw('0'),
    nextAttemptAt: p.bigint('number').index('outbox_next_attempt_at_index'),
    /** The kind and the address of a request until it is claimed, so that one of each waits at most; `null` afterwards, and for other kinds. */
    waitingRequest: p.text().nullable().unique('outbox_waiting_request_key'),
  },
});

const MailboxEntity = defineEntity({
  name: 'Mailbox',
  tableName: 'mailboxes',
  properties: {
    /** A hash of what is counted. */
    mailbox: p.text().primary(),
    /** When it may get the whole burst of mails again. */
    refilledAt: p.bigint('number').index('mailboxes_refilled_at_index'),
  },
});

const UsedValueEntity = defineEntity({
  name: 'UsedValue',
  tableName: 'used_values',
  properties: {
    id: p.text().primary(),
    expiresAt: p.bigint('number').index('used_values_expires_at_index'),
  },
});

export const PasskeyEntity = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  properties: {
    id: p.character().length(26).primary(),
    userId: () => ofUser('passkeys_user_id_fkey').index('passkeys_user_id_index'),
    credentialId: p.text().unique('passkeys_credential_id_key'),
    publicKey: p.text(),
    userHandle: p.text(),
    counter: p.bigint('number'),
    /** Separated by spaces. */
    transports: p.text(),
    aaguid: p.text(),
    isSynced: p.boolean(),
    isBackedUp: p.boolean(),
    name: p.text(),
    createdAt: p.bigint('number'),
    lastUsedAt: p.bigint('number').nullable(),
  },
});

const FactorEntity = defineEntity({
  name: 'Factor',
  tableName: 'factors',
  properties: {
    id: p.character().length(26).primary(),
    userId: () => ofUser('factors_user_id_fkey').index('factors_user_id_index'),
    /** Encrypted. */
    secret: p.text(),
    lastStep: p.bigint('number'),
    createdAt: p.bigint('number'),
    confirmedAt: p.bigint('number').nullable(),
  },
});

const RecoveryCodeEntity = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    userId: () => ofUser('recovery_codes_user_id_fkey').primary(),
    hash: p.text().primary(),
  },
});

export const RememberedDeviceEntity = defineEntity({
  name: 'RememberedDevice',
  tableName: 'remembered_devices',
  properties: {
    id: p.character().length(26).primary(),
    userId: () => ofUser('remembered_devices_user_id_fkey').index('remembered_devices_user_id_index'),
    createdAt: p.bigint('number'),
    expiresAt: p.bigint('number').index('remembered_devices_expires_at_index'),
    userAgent: p.text().nullable(),
    address: p.text().nullable(),
  },
});

export const ENTITIES = [
  UserEntity,
  SessionEntity,
  EventEntity,
  OperationEntity,
  LinkEntity,
  MessageEntity,
  MailboxEntity,
  UsedValueEntity,
  FactorEntity,
  RecoveryCodeEntity,
  RememberedDeviceEntity,
  PasskeyEntity,
] as const;
