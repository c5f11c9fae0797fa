import type { Device } from '../../domain/device.ts';
import {
  type AccountEvent,
  countingPeriodOf,
  type EndedTokens,
  EVENTS_KEPT,
  type EventKind,
  endedTokensOf,
  mergedEvents,
  surplusEvents,
  webhookTypeOf,
} from '../../domain/event.ts';
import type { RandomSecrets } from '../ports/secrets.ts';
import type { Records, Stored, Stores } from './records.ts';
import { byId, findStored, inOrder, insertOrChangeRow, readRows, usersInOrder } from './rows.ts';
import type { Tables } from './tables.ts';
import { addDeliveries } from './webhooks.ts';

type Row = Tables['events'];
type HashDeps = { readonly secrets: Pick<RandomSecrets, 'hashOf'> };

/** If a user has more events, those beyond `EVENTS_KEPT` are removed. There is a distance between the two, so that few events cause a removal. */
export const MAX_EVENTS = EVENTS_KEPT + 100;

/** A hash of a device, shortened to 132 bits in base64url: collisions are improbable, and the index stays small. */
const deviceHash = ({ secrets }: HashDeps, { userAgent, address }: Device): string =>
  secrets.hashOf(JSON.stringify([userAgent, address])).slice(0, 22);

/** The row of an event. Log-ins on one device by one method, and refused log-ins, are counted by the hour. */
export const toRow = (deps: HashDeps, event: AccountEvent): Row => {
  const isLogin = event.kind === 'logged-in';
  const device = isLogin || event.kind === 'registered' ? deviceHash(deps, event) : null;
  const isCounted = isLogin || event.kind === 'login-refused';
  const countedBy = isCounted
    ? `${event.kind} ${device ?? ''} ${event.method ?? ''} ${countingPeriodOf(event.at)}`
    : null;
  return { ...event, device, countedBy };
};

const toEvent = ({ device: _device, countedBy: _by, version: _version, ...event }: Stored<'events'>): AccountEvent =>
  event;

const storeEvent = async (records: Records, row: Row): Promise<boolean> => {
  const { userId, countedBy } = row;
  let isNew = true;
  const merge = (counted: Row | null) => {
    isNew = counted === null;
    return counted === null ? row : mergedEvents<Row>(counted, row);
  };
  if (countedBy === null) await records.insert('events', row);
  else await insertOrChangeRow(records, 'events', { userId, countedBy }, merge, 'events_counted');
  return isNew;
};

const storeEventsOf = async (records: Records, userId: string, rows: readonly Row[]): Promise<void> => {
  let isSurplus = false;
  for (const row of rows) {
    const [atLimit, isNew] = await inOrder(
      records,
      () => records.list('events', { equal: { userId }, skip: MAX_EVENTS - 1, limit: 1 }),
      () => storeEvent(records, row),
    );
    isSurplus ||= isNew && atLimit.length > 0;
  }
  if (isSurplus) await records.remove('events', surplusEvents(await records.list('events', { equal: { userId } })));
};

/** @returns the events whose users are stored. */
const storeEvents = async (
  deps: HashDeps,
  { users, records }: Pick<Stores, 'users' | 'records'>,
  events: readonly AccountEvent[],
): Promise<readonly AccountEvent[]> => {
  const stored: AccountEvent[] = [];
  for (const userId of usersInOrder(events)) {
    // The lock makes transactions that add events of one user take turns, and keeps the user from being removed meanwhile.
    if ((await users.lock(userId)) === null) continue;
    const userEvents = events.filter((event) => event.userId === userId);
    const rows = userEvents.map((event) => toRow(deps, event));
    await storeEventsOf(records, userId, rows);
    stored.push(...userEvents);
  }
  return stored;
};

/**
 * Adds events. Events of a user with the same `countedBy` are counted in one row. An unknown user gets no row in `events`.
 * @param isListed whether the events add to the list of ended sessions. Default: they do.
 */
export const addEvents = async (
  deps: HashDeps,
  stores: Pick<Stores, 'users' | 'records' | 'tell'>,
  events: readonly AccountEvent[],
  isListed = true,
): Promise<void> => {
  const { records, tell } = stores;
  const isForWebhooks = events.some((event) => webhookTypeOf(event) !== null);
  // The webhooks are read after the lock on the user, since some may have been added meanwhile.
  const [stored, webhooks] = await inOrder(
    records,
    () => storeEvents(deps, stores, events),
    async () => (isForWebhooks ? records.list('webhooks', { order: ['id'] }) : []),
  );
  const ended = isListed ? endedTokensOf(events) : [];
  for (const each of ended) await records.insert('endedSessions', each);
  if (webhooks.length > 0) await addDeliveries(stores, stored, webhooks);
  for (const event of events) await addOperatorEvent(records, event);
  if (ended.length > 0) tell(({ onEnded }) => onEnded?.());
  tell(({ onEvents, onOperatorEvents }) => {
    const listed = onOperatorEvents === undefined ? events : events.filter(({ actor }) => actor === null);
    if (listed.length > 0) onEvents?.(listed);
  });
};

const addOperatorEvent = async (records: Records, event: AccountEvent): Promise<void> => {
  const { id, actor, at } = event;
  if (actor === null) return;
  await records.insert('operations', { id, event });
  await records.insert('operatorEvents', { id, actor, at, event });
};

export type EventsQuery = {
  readonly userId: string;
  /** The id of the last event of the page before; `null` for the first page. */
  readonly before: string | null;
  readonly limit: number;
};

/** The events of one user, those with the greatest ids first. */
export const eventsOf = async (records: Records, { userId, before, limit }: EventsQuery): Promise<AccountEvent[]> => {
  const rows = await records.list('events', {
    equal: { userId },
    ...(before !== null && { range: ['id', '<', before] }),
    order: ['id'],
    descending: true,
    limit,
  });
  return rows.map(toEvent);
};

type AllEventsQuery = {
  /** The last event of the page before; `null` for the first page. */
  readonly before: EventPlace | null;
  readonly limit: number;
};

const SEPARATOR = '-';
type EventPlace = Pick<AccountEvent, 'at' | 'id'>;

/** The place of an event among those of all users, as a text. */
export const eventPlaceOf = ({ at, id }: EventPlace): string => `${at}${SEPARATOR}${id}`;

export const isEventPlace = (text: string): boolean => text.includes(SEPARATOR);

export const eventPlaceIn = (text: string | null): EventPlace | null => {
  const [at = '', id = ''] = text?.split(SEPARATOR) ?? [];
  return text === null ? null : { at: Number(at), id };
};

/** The events of all users, the latest first. A page may begin between events of one time. */
export const allEvents = async (records: Records, { before, limit }: AllEventsQuery): Promise<AccountEvent[]> => {
  const sameTime = (at: number) => records.list('events', { equal: { at } });
  const rest = await records.list('events', {
    ...(before !== null && { range: ['at', '<', before.at] }),
    order: ['at'],
    descending: true,
    limit,
  });
  // The limit may have left out events with the same time as the last one, so all events of that time are read.
  const last = rest.length < limit ? undefined : rest.at(-1);
  const rows = [
    ...(before === null ? [] : (await sameTime(before.at)).filter(({ id }) => id < before.id)),
    ...rest.filter(({ at }) => at !== last?.at),
    ...(last === undefined ? [] : await sameTime(last.at)),
  ];
  return rows
    .map(toEvent)
    .sort((a, b) => b.at - a.at || -byId(a, b))
    .slice(0, limit);
};

export const eventsByActor = async (records: Records, actor: string, { before, limit }: AllEventsQuery) => {
  const place = before !== null && { range: ['id', '<', before.id] as const };
  const query = { equal: { actor }, ...place, order: ['id'], descending: true, limit } as const;
  return (await records.list('operatorEvents', query)).map(({ event }) => event);
};

/** The names of operators with stored events, sorted. It takes a statement for each name, which reads one entry of an index. */
export const listActors = async (records: Records, limit: number, after = ''): Promise<readonly string[]> => {
  const query = { range: ['actor', '>', after], order: ['actor', 'id'], limit: 1 } as const;
  const [next] = limit === 0 ? [] : await records.list('operatorEvents', query);
  return next === undefined ? [] : [next.actor, ...(await listActors(records, limit - 1, next.actor))];
};

/** Whether a stored event shows that the user has registered or logged in on this device. */
export const knowsDevice = async (deps: HashDeps, records: Records, userId: string, device: Device): Promise<boolean> =>
  (await findStored(records, 'events', { userId, device: deviceHash(deps, device) })) !== null;

export const countEvents = async (records: Records, userId: string, kind: EventKind, since: number) => {
  const rows = await records.list('events', { equal: { userId, kind }, range: ['at', '>=', since] });
  return rows.reduce((sum, { count }) => sum + count, 0);
};

/** Takes the events of operators that the service has not logged yet, and gives them to the listeners. */
export const takeOperatorEvents = async ({ records, tell }: Pick<Stores, 'records' | 'tell'>, limit: number) => {
  const removed = await records.remove('operations', await records.list('operations', { order: ['id'], limit }));
  const events = removed.map(({ event }) => event).sort(byId);
  if (events.length > 0) tell(({ onEvents, onOperatorEvents = onEvents }) => onOperatorEvents?.(events));
  return events;
};

/** Adds an entry to the list of ended sessions (ADR 0029). */
export const addEnded = async ({ records, tell }: Pick<Stores, 'records' | 'tell'>, ended: EndedTokens) => {
  await records.insert('endedSessions', ended);
  tell(({ onEnded }) => onEnded?.());
};

/** The entries of the list of ended sessions since a time, the latest first. */
export const listEnded = (records: Records, since: number, limit: number): Promise<EndedTokens[]> =>
  readRows(records, 'endedSessions', { range: ['at', '>=', since], order: ['at', 'id'], descending: true, limit });
