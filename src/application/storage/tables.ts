import type { RememberedDevice } from '../../domain/device.ts';
import type { AccountEvent, EndedTokens, StoredEvent } from '../../domain/event.ts';
import type { Identity } from '../../domain/identity.ts';
import type { Link } from '../../domain/link.ts';
import type { Message } from '../../domain/message.ts';
import type { Passkey } from '../../domain/passkey.ts';
import type { Invitation } from '../../domain/registration.ts';
import type { Factor } from '../../domain/second-factor.ts';
import type { MassEnding, Session } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { Delivery, Webhook } from '../../domain/webhook.ts';

/** The rows of each table. Times are epoch milliseconds. */
export type Tables = {
  readonly users: User & {
    /** The canonical username, which is unique. */
    readonly usernameKey: string;
  };
  readonly sessions: Session & {
    /** When the purge checks the session next: at its expiry or before. A refresh changes it only if the session now expires earlier (ADR 0035). */
    readonly purgeCheckAt: number;
  };
  readonly events: StoredEvent;
  /** The events of operators that the service has not logged yet. They outlive their users. */
  readonly operations: { readonly id: string; readonly event: AccountEvent };
  /** The events of each operator, kept for `EVENTS_RETENTION`. They outlive their users. */
  readonly operatorEvents: {
    readonly id: string;
    readonly actor: string;
    readonly at: number;
    readonly event: AccountEvent;
  };
  /** How many events of a kind there were within an hour. */
  readonly hourlyCounts: {
    readonly hour: number;
    /** The kind of events. `users` and `sessions`: how many there were when the hour was summed. */
    readonly kind: string;
    /** The method of a log-in, or the reason of the end of a session, or `''`. */
    readonly detail: string;
    readonly count: number;
  };
  /** The entries of the list of ended sessions. They outlive their users. */
  readonly endedSessions: EndedTokens;
  readonly links: Link;
  readonly invitations: Invitation;
  readonly outbox: Message & {
    readonly nextAttemptAt: number;
    /** Whether the message is claimed only if it was due at the last poll. */
    readonly waitsForPoll: boolean;
    /** The `requestKey` of a request that waits to be claimed; `null` afterwards, and for other kinds. */
    readonly request: string | null;
    /** The network of a request that waits to be claimed, or `''` if it is not known; `null` in all other rows. */
    readonly network: string | null;
  };
  readonly mailboxes: {
    /** A hash of the name of a limit (`MailLimit.key`). */
    readonly mailbox: string;
    /** When the limit allows its whole burst of mails again. */
    readonly refilledAt: number;
  };
  readonly usedValues: { readonly id: string; readonly expiresAt: number };
  readonly passkeys: Passkey;
  readonly identities: Identity;
  readonly factors: Factor;
  readonly rememberedDevices: RememberedDevice;
  readonly massEndings: MassEnding;
  readonly recoveryCodes: { readonly userId: string; readonly hash: string };
  readonly webhooks: Webhook;
  /** Events that wait to be sent to webhooks, or were given up. They outlive their users. */
  readonly deliveries: Delivery & {
    /** Why an attempt has failed last: a status other than 410, the code of an error, or `no answer`. */
    readonly lastError: string | null;
    /** `false` if the delivery was given up. */
    readonly isWaiting: boolean;
    /** `null`: another delivery about the user to the webhook comes first, or this one was given up. */
    readonly nextAttemptAt: number | null;
  };
  readonly webhookSequences: { readonly userId: string; readonly sequence: number };
};

export type TableName = keyof Tables;
export type Column<Name extends TableName> = keyof Tables[Name] & string;

/** The type of a column. `integer`: a safe integer. `json`: an object or a list. With a question mark, it may be `null`. */
export type ColumnType = 'text' | 'integer' | 'boolean' | 'json' | 'text?' | 'integer?' | 'boolean?' | 'json?';

type NotNullTypeOf<Value> = [Value] extends [string]
  ? 'text'
  : [Value] extends [number]
    ? 'integer'
    : [Value] extends [boolean]
      ? 'boolean'
      : 'json';
type ColumnTypeOf<Value> = null extends Value ? `${NotNullTypeOf<NonNullable<Value>>}?` : NotNullTypeOf<Value>;

type Table<ColumnName extends string, Columns> = {
  readonly columns: Columns;
  /** The primary key. Its name in a violation is `<name>_pkey`. */
  readonly key: readonly ColumnName[];
  /** Unique indexes by their names. A row that has `null` in one of the columns equals no other row. */
  readonly unique?: Readonly<Record<string, readonly ColumnName[]>>;
  readonly indexes?: Readonly<Record<string, readonly ColumnName[]>>;
  /** Columns with texts in lower case, which are searched for a part of them (`contains`). A store may have an index for that. */
  readonly search?: readonly ColumnName[];
  readonly name: string;
  /** Whether rows belong to the user of their `userId`, unless it is `null`: they are removed with the user, and cannot be added without one. */
  readonly ofUser?: true;
};

/** A table without the types of its rows, for code that serves every table. */
export type AnyTable = Table<string, Readonly<Record<string, ColumnType>>>;

/** By default, `name` is the name of the table in `Tables`, in snake case. */
type TableDraft<Each extends AnyTable> = Omit<Each, 'name'> & Partial<Pick<Each, 'name'>>;

const columnsOf = <Type extends ColumnType, Name extends string>(type: Type, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, type])) as Record<Name, Type>;

const DEVICE_COLUMNS = columnsOf('text?', 'userAgent', 'address');

type Columns<Name extends TableName> = { readonly [Each in Column<Name>]: ColumnTypeOf<Tables[Name][Each]> };

const SCHEMA = {
  users: {
    columns: {
      ...columnsOf('text', 'id', 'username', 'usernameKey', 'email', 'passwordHash'),
      ...columnsOf('integer', 'createdAt', 'updatedAt', 'passwordChangedAt'),
      ...columnsOf('integer?', 'emailVerifiedAt', 'disabledAt', 'secondFactorAt'),
      ...columnsOf('json?', 'importedFactors', 'removedIdentities'),
      attributes: 'json',
      locale: 'text?',
    },
    key: ['id'],
    unique: { users_username: ['usernameKey'], users_email: ['email'] },
    search: ['usernameKey', 'email'],
  },
  sessions: {
    columns: {
      ...columnsOf('text', 'id', 'userId', 'currentTokenId'),
      ...columnsOf('integer', 'rotatedAt', 'rotation', 'burstStartedAt', 'burstFirst', 'createdAt', 'expiresAt'),
      ...columnsOf('integer', 'authenticatedAt', 'purgeCheckAt'),
      ...columnsOf('json', 'proofs', 'amr'),
      ...columnsOf('text?', 'previousTokenId', 'deviceKey', 'browserKey'),
      ...columnsOf('integer?', 'knownAt', 'heldAt'),
      ...DEVICE_COLUMNS,
    },
    key: ['id'],
    // A refresh seldom changes a column of an index, so PostgreSQL seldom writes to one (ADR 0035).
    indexes: { sessions_user: ['userId'], sessions_purge: ['purgeCheckAt'] },
    ofUser: true,
  },
  events: {
    columns: {
      ...columnsOf('text', 'userId', 'id', 'kind'),
      ...columnsOf('integer', 'at', 'count'),
      ...columnsOf('text?', 'sessionId', 'reason', 'method', 'note', 'requestId', 'actor', 'device', 'countedBy'),
      ...DEVICE_COLUMNS,
    },
    key: ['userId', 'id'],
    unique: { events_counted: ['userId', 'countedBy'] },
    indexes: { events_at: ['at'], events_device: ['userId', 'device'] },
    ofUser: true,
  },
  operations: { columns: { id: 'text', event: 'json' }, key: ['id'] },
  operatorEvents: {
    columns: { id: 'text', actor: 'text', at: 'integer', event: 'json' },
    key: ['id'],
    indexes: { operator_events_actor: ['actor', 'id'], operator_events_at: ['at'] },
  },
  hourlyCounts: {
    columns: { hour: 'integer', kind: 'text', detail: 'text', count: 'integer' },
    key: ['hour', 'kind', 'detail'],
  },
  endedSessions: {
    columns: { id: 'text', at: 'integer', userId: 'text?', sessionId: 'text?', reason: 'text' },
    key: ['id'],
    indexes: { ended_sessions_at: ['at', 'id'] },
  },
  links: {
    columns: {
      ...columnsOf('text', 'userId', 'purpose', 'tokenHash', 'email'),
      ...columnsOf('integer', 'since', 'createdAt', 'expiresAt'),
      keeps: 'json?',
    },
    key: ['userId', 'purpose', 'since'],
    unique: { links_token: ['tokenHash'] },
    indexes: { links_email: ['email', 'purpose'], links_expiry: ['expiresAt'] },
    ofUser: true,
  },
  invitations: {
    columns: {
      ...columnsOf('text', 'email', 'id', 'tokenHash'),
      ...columnsOf('integer', 'createdAt', 'expiresAt'),
      attributes: 'json',
    },
    key: ['email'],
    indexes: { invitations_token: ['tokenHash'], invitations_expiry: ['expiresAt'] },
  },
  outbox: {
    columns: {
      ...columnsOf('text', 'id', 'kind', 'to'),
      ...columnsOf('integer', 'createdAt', 'attempts', 'nextAttemptAt'),
      ...columnsOf('boolean', 'wasVerified', 'waitsForPoll'),
      ...columnsOf('text?', 'userId', 'email', 'locale', 'request', 'network'),
      origin: 'json',
    },
    key: ['id'],
    unique: { outbox_request: ['request'] },
    indexes: {
      outbox_due: ['waitsForPoll', 'nextAttemptAt', 'id'],
      outbox_user: ['userId', 'id'],
      outbox_network: ['network'],
    },
    ofUser: true,
  },
  mailboxes: {
    columns: { mailbox: 'text', refilledAt: 'integer' },
    key: ['mailbox'],
    indexes: { mailboxes_refill: ['refilledAt'] },
  },
  usedValues: {
    columns: { id: 'text', expiresAt: 'integer' },
    key: ['id'],
    indexes: { used_values_expiry: ['expiresAt'] },
  },
  passkeys: {
    columns: {
      ...columnsOf('text', 'id', 'userId', 'credentialId', 'publicKey', 'userHandle', 'aaguid', 'name'),
      ...columnsOf('integer', 'counter', 'createdAt'),
      ...columnsOf('boolean', 'isSynced', 'isBackedUp'),
      transports: 'json',
      lastUsedAt: 'integer?',
    },
    key: ['id'],
    unique: { passkeys_credential: ['credentialId'] },
    indexes: { passkeys_user: ['userId', 'id'] },
    ofUser: true,
  },
  identities: {
    columns: {
      ...columnsOf('text', 'issuer', 'subject', 'id', 'userId', 'provider'),
      createdAt: 'integer',
      email: 'text?',
      lastUsedAt: 'integer?',
    },
    key: ['issuer', 'subject'],
    indexes: { identities_user: ['userId', 'id'], identities_provider: ['provider', 'id'] },
    ofUser: true,
  },
  factors: {
    columns: {
      ...columnsOf('text', 'id', 'userId', 'secret'),
      ...columnsOf('integer', 'lastStep', 'createdAt'),
      confirmedAt: 'integer?',
    },
    key: ['id'],
    indexes: { factors_user: ['userId', 'id'] },
    ofUser: true,
  },
  rememberedDevices: {
    columns: { id: 'text', userId: 'text', createdAt: 'integer', expiresAt: 'integer', ...DEVICE_COLUMNS },
    key: ['id'],
    indexes: { remembered_devices_user: ['userId'], remembered_devices_expiry: ['expiresAt'] },
    ofUser: true,
  },
  massEndings: { columns: { id: 'text', at: 'integer', note: 'text?', actor: 'text?', cursor: 'text?' }, key: ['id'] },
  recoveryCodes: { columns: { userId: 'text', hash: 'text' }, key: ['userId', 'hash'], ofUser: true },
  webhooks: {
    columns: {
      ...columnsOf('text', 'id', 'url', 'publicKey'),
      ...columnsOf('integer', 'keyNumber', 'createdAt'),
      ...columnsOf('integer?', 'rotatedAt', 'disabledAt'),
      hasSecret: 'boolean',
      types: 'json?',
    },
    key: ['id'],
  },
  deliveries: {
    name: 'webhook_deliveries',
    columns: {
      ...columnsOf('text', 'webhookId', 'userId'),
      ...columnsOf('integer', 'sequence', 'attempts', 'createdAt'),
      isWaiting: 'boolean',
      event: 'json',
      lastError: 'text?',
      nextAttemptAt: 'integer?',
    },
    key: ['webhookId', 'userId', 'sequence'],
    indexes: {
      webhook_deliveries_due: ['webhookId', 'nextAttemptAt'],
      webhook_deliveries_age: ['isWaiting', 'createdAt'],
    },
  },
  webhookSequences: { columns: { userId: 'text', sequence: 'integer' }, key: ['userId'], ofUser: true },
} satisfies { readonly [Name in TableName]: TableDraft<Table<Column<Name>, Columns<Name>>> };

type SurplusColumn = { [Name in TableName]: Exclude<keyof (typeof SCHEMA)[Name]['columns'], Column<Name>> }[TableName];
/** Does not compile if a column is declared that no row has. */
const CHECKED_SCHEMA: [SurplusColumn] extends [never] ? Readonly<Record<string, TableDraft<AnyTable>>> : never = SCHEMA;

export const nameInSql = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** All tables, in an order in which rows can be added: users first. */
export const TABLES = Object.fromEntries(
  Object.entries(CHECKED_SCHEMA).map(([name, table]) => [name, { name: nameInSql(name), ...table }]),
) as Readonly<Record<TableName, AnyTable>>;

/** The columns of these tables that the export of an account contains. The tables have an index of `userId` and `id`. New columns are private by default. */
export const EXPORTED_COLUMNS = {
  passkeys: [
    ...(['id', 'credentialId', 'transports', 'aaguid', 'isSynced', 'isBackedUp'] as const),
    ...(['name', 'createdAt', 'lastUsedAt'] as const),
  ],
  identities: ['id', 'provider', 'issuer', 'subject', 'email', 'createdAt', 'lastUsedAt'],
  factors: ['id', 'createdAt', 'confirmedAt'],
} as const satisfies { readonly [Name in TableName]?: readonly Column<Name>[] };

/** The name of the primary key in a violation. In SQL only PostgreSQL has this name, behind the prefix of tables. */
export const keyName = ({ name }: Pick<AnyTable, 'name'>): string => `${name}_pkey`;

/** The unique indexes by their names, the primary key first. */
export const uniquesOf = (table: AnyTable): readonly (readonly [name: string, columns: readonly string[]])[] => [
  [keyName(table), table.key],
  ...Object.entries(table.unique ?? {}),
];
