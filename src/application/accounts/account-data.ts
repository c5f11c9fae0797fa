import { bindingOf } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { type AccountEvent, EVENTS_KEPT, type EventKind, NO_ORIGIN, withoutOperatorName } from '../../domain/event.ts';
import { publicUser, type User } from '../../domain/user.ts';
import { filteredPage } from '../filtered-page.ts';
import { recordChange } from '../notices.ts';
import { type Core, NEVER_CANCELLED, pick, type Service } from '../service.ts';
import { type Caller, liveUser, lockedLiveUser } from '../sessions/current-user.ts';
import { devicesOf, linksOf, recoveryCodesOf } from '../storage/credentials.ts';
import { allEvents, type EventsQuery, eventPlaceIn, eventPlaceOf, eventsByActor, eventsOf } from '../storage/events.ts';
import { messagesOf } from '../storage/outbox.ts';
import type { Records, Stores } from '../storage/records.ts';
import { EXPORTED_COLUMNS, type Tables } from '../storage/tables.ts';

/**
 * The data of a user for the export and for operators, without events, and without secrets such as hashes and ids of tokens. Fields are named one by one,
 * so that a new field is private by default.
 */
export const accountData = async (stores: Pick<Stores, 'sessions' | 'records'>, user: User, now: number) => {
  const [sessions, devices, links, rows, codes, messages] = await Promise.all([
    stores.sessions.listByUser(user.id, now),
    devicesOf(stores.records, user.id, now),
    linksOf(stores.records, user.id, now),
    exportedRows(stores.records, user.id),
    recoveryCodesOf(stores.records, user.id),
    messagesOf(stores.records, user.id),
  ]);
  return {
    user: userData(user),
    sessions: sessions.map((session) => ({
      ...pick(session, 'id', 'createdAt', 'expiresAt', 'authenticatedAt', 'knownAt', 'heldAt', 'userAgent', 'address'),
      lastUsedAt: session.rotatedAt,
      amr: [...session.amr],
      binding: bindingOf(session),
    })),
    rememberedDevices: devices.map((each) => pick(each, 'id', 'createdAt', 'expiresAt', 'userAgent', 'address')),
    links: links.map((each) => pick(each, 'purpose', 'email', 'createdAt', 'expiresAt')),
    ...rows,
    recoveryCodes: { left: codes.length },
    messages: messages.map((message) => ({
      ...pick(message, 'id', 'kind', 'to', 'email', 'createdAt', 'attempts'),
      // Without `actor`, the name of an operator.
      origin: pick(message.origin, 'userAgent', 'address', 'requestId'),
    })),
  };
};

type ExportedColumns = typeof EXPORTED_COLUMNS;
type ExportedRows = {
  [Name in keyof ExportedColumns]: {
    [Key in keyof Tables[Name] & ExportedColumns[Name][number]]: Tables[Name][Key] extends readonly (infer Each)[]
      ? Each[]
      : Tables[Name][Key];
  }[];
};

const exportedRows = async (records: Records, userId: string): Promise<ExportedRows> => {
  const lists = Object.entries<readonly string[]>(EXPORTED_COLUMNS).map(async ([table, columns]) => {
    const rows = await records.list(table as keyof ExportedColumns, { equal: { userId }, order: ['id'] });
    return [table, rows.map((row) => Object.fromEntries(columns.map((name) => [name, Reflect.get(row, name)])))];
  });
  return Object.fromEntries(await Promise.all(lists));
};

export type AccountData = Awaited<ReturnType<typeof accountData>>;

export const userData = (user: User) => ({
  ...publicUser(user),
  ...pick(user, 'passwordChangedAt', 'emailVerifiedAt', 'disabledAt', 'secondFactorAt', 'attributes', 'locale'),
});

export type EventData = Omit<AccountEvent, 'userId'>;

/** All events of a user, the latest first. There may be some more than `EVENTS_KEPT`. */
export const eventsData = async (records: Records, userId: string): Promise<EventData[]> => {
  const all = await eventsOf(records, { userId, before: null, limit: 2 * EVENTS_KEPT });
  return all.map(eventData);
};

const eventData = (event: AccountEvent): EventData => ({
  ...pick(event, 'id', 'kind', 'at', 'sessionId', 'reason', 'method', 'note', 'count'),
  ...pick(event, 'requestId', 'userAgent', 'address', 'actor'),
});

export type ExportedAccount = Awaited<ReturnType<ReturnType<typeof exportAccount>>>;

/** Exports the data and the events of a user. An event records the export, since it may be a thief's. */
export const exportAccount =
  (deps: Core) =>
  async (caller: Caller, origin = NO_ORIGIN, cancellation = NEVER_CANCELLED) => {
    cancellation.throwIfAborted();
    const user = await deps.transactions.run(async (stores) => {
      const locked = await lockedLiveUser(deps, stores, caller);
      await recordChange(deps, stores, { kind: 'exported', user: locked, sessionId: caller.sessionId, origin });
      return locked;
    });
    return exportFor(deps, user);
  };

export const exportAccountAsOperator = (deps: Stores & Pick<Core, 'clock'>) => async (userId: string) =>
  exportFor(deps, await existingUser(deps, userId));

const exportFor = async (deps: Stores & Pick<Core, 'clock'>, user: User) => {
  const exportedAt = deps.clock.now();
  const data = await accountData(deps, user, exportedAt);
  const events = (await eventsData(deps.records, user.id)).map(withoutOperatorName);
  // The number of attempts to send a mail is shown to operators, and not exported.
  const messages = data.messages.map(({ attempts: _, ...message }) => message);
  return { ...data, messages, events, exportedAt };
};

export const existingUser = async ({ users }: Stores, userId: string) => assertFound(await users.findById(userId));

export const lockedUser = async ({ users }: Stores, userId: string) => assertFound(await users.lock(userId));

const assertFound = (user: User | null): User => {
  if (user === null) throw new AppError('DB_RECORD_NOT_FOUND');
  return user;
};

type PageQuery = Omit<EventsQuery, 'userId'>;
/** A page of the events of an account, the latest first. @returns `next`: the value of `before` for the next page; `null` on the last page. */
export const listEvents = (deps: Service) => async (caller: Caller, query: PageQuery) => {
  const { id: userId } = await liveUser(deps, caller);
  const { events, next } = await pageOfEvents(deps, { ...query, userId });
  return { events: events.map(withoutOperatorName), next };
};

export const listEventsAsOperator = (deps: Stores) => async (userId: string, query: PageQuery) =>
  pageOfEvents(deps, { ...query, userId: (await existingUser(deps, userId)).id });

const pageOfEvents = async ({ records }: Stores, { userId, before, limit }: EventsQuery) => {
  const read = (after: string | null, most: number) => eventsOf(records, { userId, before: after, limit: most });
  const source = { read, placeOf: ({ id }: AccountEvent) => id, itemOf: (event: AccountEvent) => event };
  const { items, next } = await filteredPage(source, { after: before, limit });
  return { events: items, next };
};

type EventsFilter = {
  readonly before: string | null;
  readonly limit: number;
  readonly kind?: EventKind | undefined;
  readonly actor?: string | undefined;
};

/** How many events a page looks through at most if it shows one kind alone. */
const MAX_EVENTS_READ = 10_000;

/** A page of the events of all users, or of those that an operator (`actor`) has caused; the latest first. */
export const listAllEvents =
  ({ records }: Pick<Stores, 'records'>) =>
  async ({ before, limit, kind, actor }: EventsFilter) => {
    const { items, next } = await filteredPage(
      {
        read: (after, most) => {
          const part = { before: eventPlaceIn(after), limit: most };
          return actor === undefined ? allEvents(records, part) : eventsByActor(records, actor, part);
        },
        placeOf: eventPlaceOf,
        itemOf: (event) => (kind === undefined || event.kind === kind ? event : null),
        maxRows: kind === undefined ? undefined : MAX_EVENTS_READ,
      },
      { after: before, limit },
    );
    return { events: items, next };
  };
