import { bindingOf } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { type AccountEvent, EVENTS_KEPT, NO_ORIGIN, withoutName } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { notifyOfChange } from '../notices.ts';
import type { Core, Service } from '../service.ts';
import { type Caller, liveUser, lockedLiveUser } from '../sessions/current-user.ts';
import { type EventsQuery, eventsOf } from '../storage/events.ts';
import { codesOf, devicesOf } from '../storage/factors.ts';
import { linksOf } from '../storage/links.ts';
import { messagesOf } from '../storage/outbox.ts';
import type { Records } from '../storage/records.ts';
import type { Stores } from '../storage/stores.ts';
import { EXPORTED, type Tables } from '../storage/tables.ts';
import { NEVER_CANCELLED, record } from '../use-case.ts';

/**
 * Everything that is stored about a user, except the events and secrets (hashes, ids of tokens): of sessions, devices and links the live ones, of
 * messages those that are not sent yet. Names each field that it returns, so that a new field is private by default.
 */
export const accountData = async (stores: Pick<Stores, 'sessions' | 'records'>, user: User, now: number) => {
  const [sessions, devices, links, rows, left, messages] = await Promise.all([
    stores.sessions.listByUser(user.id, now),
    devicesOf(stores.records, user.id, now),
    linksOf(stores.records, user.id, now),
    exportedRows(stores.records, user.id),
    codesOf(stores.records, user.id),
    messagesOf(stores.records, user.id),
  ]);
  return {
    user: userData(user),
    sessions: sessions.map((session) => ({
      id: session.id,
      createdAt: session.createdAt,
      lastUsedAt: session.rotatedAt,
      expiresAt: session.expiresAt,
      authenticatedAt: session.authenticatedAt,
      amr: [...session.amr],
      knownAt: session.knownAt,
      heldAt: session.heldAt,
      userAgent: session.userAgent,
      address: session.address,
      binding: bindingOf(session),
    })),
    rememberedDevices: devices.map(({ id, createdAt, expiresAt, userAgent, address }) => ({
      id,
      createdAt,
      expiresAt,
      userAgent,
      address,
    })),
    links: links.map(({ purpose, email, createdAt, expiresAt }) => ({ purpose, email, createdAt, expiresAt })),
    ...rows,
    recoveryCodes: { left: left.length },
    messages: messages.map(({ id, kind, to, email, origin, createdAt, attempts }) => ({
      id,
      kind,
      to,
      email,
      // Without the name of an operator.
      origin: { userAgent: origin.userAgent, address: origin.address, requestId: origin.requestId },
      createdAt,
      attempts,
    })),
  };
};

type Exported = typeof EXPORTED;
type ExportedRows = {
  [Name in keyof Exported]: {
    [Key in keyof Tables[Name] & Exported[Name][number]]: Tables[Name][Key] extends readonly (infer Each)[]
      ? Each[]
      : Tables[Name][Key];
  }[];
};

/** The oldest first. */
const exportedRows = async (records: Records, userId: string): Promise<ExportedRows> => {
  const lists = Object.entries<readonly string[]>(EXPORTED).map(async ([table, columns]) => {
    const rows = await records.list(table as keyof Exported, { equal: { userId }, order: ['id'] });
    return [table, rows.map((row) => Object.fromEntries(columns.map((name) => [name, Reflect.get(row, name)])))];
  });
  return Object.fromEntries(await Promise.all(lists));
};

export type AccountData = Awaited<ReturnType<typeof accountData>>;

export type UserData = Omit<User, 'passwordHash' | 'importedFactors' | 'removedIdentities'>;

export const userData = (user: User): UserData => ({
  id: user.id,
  username: user.username,
  email: user.email,
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
  passwordChangedAt: user.passwordChangedAt,
  emailVerifiedAt: user.emailVerifiedAt,
  disabledAt: user.disabledAt,
  secondFactorAt: user.secondFactorAt,
  attributes: user.attributes,
  locale: user.locale,
});

export type EventData = Omit<AccountEvent, 'userId'>;

/** The events of a user, the latest first. There may be some more than `EVENTS_KEPT`, so the limit leaves room. */
export const eventsData = async (records: Records, userId: string): Promise<EventData[]> => {
  const all = await eventsOf(records, { userId, before: null, limit: 2 * EVENTS_KEPT });
  return all.map(eventData);
};

const eventData = (event: AccountEvent): EventData => ({
  id: event.id,
  kind: event.kind,
  at: event.at,
  sessionId: event.sessionId,
  reason: event.reason,
  note: event.note,
  count: event.count,
  requestId: event.requestId,
  userAgent: event.userAgent,
  address: event.address,
  actor: event.actor,
});

export type ExportedAccount = Awaited<ReturnType<ReturnType<typeof exportAccount>>>;

/**
 * Everything that is stored about a user, without secrets, and when it was read. The events come the latest first. The user is told: a thief would
 * leave no other trace.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const exportAccount =
  (deps: Core) =>
  async (caller: Caller, origin = NO_ORIGIN, cancellation = NEVER_CANCELLED) => {
    cancellation.throwIfAborted();
    const user = await deps.transactions.run(async (stores) => {
      const locked = await lockedLiveUser(deps, stores, caller);
      const kind = 'exported';
      await record(deps, stores, origin, [{ userId: locked.id, kind, sessionId: caller.sessionId }]);
      await notifyOfChange(deps, stores, { kind, user: locked, origin });
      return locked;
    });
    return exported(deps, user);
  };

/** The same, which an operator hands over to the user. @throws AppError DB_RECORD_NOT_FOUND */
export const exportAccountAsOperator = (deps: Stores & Pick<Core, 'clock'>) => async (userId: string) =>
  exported(deps, await existingUser(deps, userId));

const exported = async (deps: Stores & Pick<Core, 'clock'>, user: User) => {
  const exportedAt = deps.clock.now();
  const data = await accountData(deps, user, exportedAt);
  const events = (await eventsData(deps.records, user.id)).map(withoutName);
  // The number of attempts is of interest to the operator only.
  const messages = data.messages.map(({ attempts: _, ...message }) => message);
  return { ...data, messages, events, exportedAt };
};

/** @throws AppError DB_RECORD_NOT_FOUND */
export const existingUser = async ({ users }: Pick<Stores, 'users'>, userId: string): Promise<User> => {
  const user = await users.findById(userId);
  if (user === null) throw new AppError('DB_RECORD_NOT_FOUND');
  return user;
};

/** The user, whom nobody else changes until the end of the transaction. @throws AppError DB_RECORD_NOT_FOUND */
export const lockedUser = async ({ users }: Pick<Stores, 'users'>, userId: string): Promise<User> => {
  const user = await users.lock(userId);
  if (user === null) throw new AppError('DB_RECORD_NOT_FOUND');
  return user;
};

type PageOfEvents = Omit<EventsQuery, 'userId'>;
/**
 * A page of the events of an account, the latest first.
 * @returns the events, and the value of `before` for the next page; `null` on the last page.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const listEvents = (deps: Service) => async (caller: Caller, query: PageOfEvents) => {
  const { id: userId } = await liveUser(deps, caller);
  const { events, next } = await pageOfEvents(deps, { ...query, userId });
  return { events: events.map(withoutName), next };
};

/** The same for operators, with their names. @throws AppError DB_RECORD_NOT_FOUND */
export const listEventsAsOperator = (deps: Stores) => async (userId: string, query: PageOfEvents) =>
  pageOfEvents(deps, { ...query, userId: (await existingUser(deps, userId)).id });

const pageOfEvents = async ({ records }: Pick<Stores, 'records'>, query: EventsQuery) => {
  const found = await eventsOf(records, { ...query, limit: query.limit + 1 });
  const page = found.slice(0, query.limit);
  return { events: page, next: found.length > query.limit ? (page.at(-1)?.id ?? null) : null };
};
