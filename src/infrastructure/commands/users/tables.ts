import type { AccountData, EventData } from '../../../application/accounts/account-data.ts';
import { hasAttributes } from '../../../domain/attributes.ts';
import type { Invitation } from '../../../domain/invitation.ts';
import { isConfirmed } from '../../../domain/second-factor.ts';
import { printable } from '../../printable.ts';

type Cell = string | number | null;
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** A line of titles, and a line for each row. */
const table = <Row>(rows: readonly Row[], columns: Columns<Row>): string => {
  const cells = rows.map((row) => Object.values(columns).map((cell) => printable(String(cell(row) ?? '–'))));
  const lines = [Object.keys(columns), ...cells];
  const widths = Object.keys(columns).map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((text, at) => text.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
};

const tableIfAny = <Row>(rows: readonly Row[], columns: Columns<Row>): string[] =>
  rows.length === 0 ? [] : [table(rows, columns)];

/** UTC, as in the log. */
const time = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

type Shown = AccountData['user'];

const stateOf = ({ disabledAt }: Shown): string => (disabledAt === null ? 'enabled' : `disabled ${time(disabledAt)}`);

export const usersTable = (users: readonly Shown[]): string =>
  table(users, {
    ID: ({ id }) => id,
    USERNAME: ({ username }) => username,
    EMAIL: ({ email }) => email,
    REGISTERED: ({ createdAt }) => time(createdAt),
    STATE: stateOf,
  });

export const invitationsTable = (invitations: readonly Omit<Invitation, 'tokenHash'>[]): string =>
  table(invitations, {
    ID: ({ id }) => id,
    EMAIL: ({ email }) => email,
    INVITED: ({ createdAt }) => time(createdAt),
    EXPIRES: ({ expiresAt }) => time(expiresAt),
    ATTRIBUTES: ({ attributes }) => (hasAttributes(attributes) ? JSON.stringify(attributes) : null),
  });

export const eventsTable = (events: readonly EventData[]): string =>
  table(events, {
    TIME: ({ at }) => time(at),
    EVENT: ({ kind, count }) => (count > 1 ? `${kind} (${count} times)` : kind),
    REASON: ({ reason, note }) => (note === null ? reason : [reason, note].filter(Boolean).join(': ')),
    BY: ({ actor }) => actor,
    SESSION: ({ sessionId }) => sessionId,
    ADDRESS: ({ address }) => address,
    REQUEST: ({ requestId }) => requestId,
    DEVICE: ({ userAgent }) => userAgent,
  });

export const accountText = ({
  user,
  sessions,
  rememberedDevices,
  passkeys,
  identities,
  factors,
  recoveryCodes,
  links,
  messages,
}: AccountData): string =>
  [
    table(Object.entries({ ...fieldsOf(user), 'recovery codes': recoveryCodes.left }), {
      FIELD: ([name]) => name,
      VALUE: ([, value]) => value,
    }),
    sessions.length === 0
      ? 'No sessions.\n'
      : table(sessions, {
          SESSION: ({ id }) => id,
          OPENED: ({ createdAt }) => time(createdAt),
          'LAST USED': ({ lastUsedAt }) => time(lastUsedAt),
          ADDRESS: ({ address }) => address,
          BOUND: ({ binding }) => binding,
          DEVICE: ({ userAgent }) => userAgent,
        }),
    ...tableIfAny(rememberedDevices, {
      'REMEMBERED DEVICE': ({ id }) => id,
      SINCE: ({ createdAt }) => time(createdAt),
      ADDRESS: ({ address }) => address,
      DEVICE: ({ userAgent }) => userAgent,
    }),
    ...tableIfAny(passkeys, {
      PASSKEY: ({ name }) => name,
      ADDED: ({ createdAt }) => time(createdAt),
      'LAST USED': ({ lastUsedAt }) => time(lastUsedAt),
    }),
    ...tableIfAny(identities, {
      IDENTITY: ({ provider }) => provider,
      SUBJECT: ({ subject }) => subject,
      EMAIL: ({ email }) => email,
      ADDED: ({ createdAt }) => time(createdAt),
      'LAST USED': ({ lastUsedAt }) => time(lastUsedAt),
    }),
    ...tableIfAny(factors.filter(isConfirmed), {
      'AUTHENTICATOR APP': ({ id }) => id,
      ADDED: ({ confirmedAt }) => time(confirmedAt),
    }),
    ...tableIfAny(links, {
      LINK: ({ purpose }) => purpose,
      EMAIL: ({ email }) => email,
      EXPIRES: ({ expiresAt }) => time(expiresAt),
    }),
    ...tableIfAny(messages, {
      'WAITING MAIL': ({ kind }) => kind,
      TO: ({ to }) => to,
      SINCE: ({ createdAt }) => time(createdAt),
      ATTEMPTS: ({ attempts }) => attempts,
    }),
  ].join('\n');

const fieldsOf = (user: Shown): Record<string, string | null> => ({
  id: user.id,
  username: user.username,
  email: user.email,
  state: stateOf(user),
  registered: time(user.createdAt),
  updated: time(user.updatedAt),
  'password changed': user.passwordChangedAt === 0 ? null : time(user.passwordChangedAt),
  'email verified': time(user.emailVerifiedAt),
  'second factor': time(user.secondFactorAt),
  attributes: hasAttributes(user.attributes) ? JSON.stringify(user.attributes) : null,
  language: user.locale,
});
