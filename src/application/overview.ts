import { type AccountEvent, countingPeriodOf, COUNTING_PERIOD as HOUR } from '../domain/event.ts';
import type { Clock } from './ports/clock-and-ids.ts';
import { allEvents } from './storage/events.ts';
import { waitingMessages } from './storage/outbox.ts';
import { type Records, type Stores, violates } from './storage/records.ts';
import { countRows, countUsers } from './storage/rows.ts';
import { keyName, TABLES, type Tables } from './storage/tables.ts';
import { waitingDeliveries } from './storage/webhooks.ts';

/** Counts of events for operators. A task in the background sums each hour that is over; a request for the overview sums the later hours. */

const COUNTED_KINDS: readonly string[] = ['registered', 'logged-in', 'login-refused', 'session-ended'];

type HourlyCount = Tables['hourlyCounts'];

const DAY = 24 * HOUR;
export const COUNTS_LIFETIME = 31 * DAY;
/** Milliseconds after an hour in which transactions may still store events of that hour. */
const GRACE_PERIOD = HOUR / 12;

const EVENTS_AT_ONCE = 1_000;
/** The most events that are summed for a request. */
const MAX_LIVE_EVENTS = 10_000;

/** The counts of each hour in a period. @param most how many events are read at most, the latest first. */
const sumEvents = async (records: Records, from: number, until: number, most = Number.POSITIVE_INFINITY) => {
  const sums = new Map<string, HourlyCount>();
  const add = ({ kind, method, reason, at, count }: AccountEvent) => {
    const [hour, detail] = [countingPeriodOf(at), method ?? reason ?? ''];
    const key = `${hour} ${kind} ${detail}`;
    sums.set(key, { hour, kind, detail, count: (sums.get(key)?.count ?? 0) + count });
  };
  let before = { at: until, id: '' };
  for (let read = 0; read < most; read += EVENTS_AT_ONCE) {
    const events = await allEvents(records, { before, limit: EVENTS_AT_ONCE });
    const inPeriod = events.filter(({ at }) => at >= from);
    for (const event of inPeriod) if (COUNTED_KINDS.includes(event.kind)) add(event);
    const last = inPeriod.at(-1);
    if (last === undefined || inPeriod.length < EVENTS_AT_ONCE) break;
    before = last;
  }
  return [...sums.values()];
};

/** The hour to sum next. If no hour was summed yet, it is the hour of the first event, and `latestHour` at the latest. */
const nextHour = async (records: Records, latestHour: number): Promise<number> => {
  const [last] = await records.list('hourlyCounts', { order: ['hour'], descending: true, limit: 1 });
  if (last !== undefined) return last.hour + HOUR;
  const [first] = await records.list('events', { order: ['at'], limit: 1 });
  return first === undefined ? latestHour : Math.min(latestHour, countingPeriodOf(first.at));
};

/** Sums the next hour that is over. With the latest such hour, it also counts sessions, and users if the store lists them. @returns whether there was one. */
export const countHour = async (deps: Stores, now: number): Promise<boolean> => {
  const { records, users } = deps;
  const latestHour = countingPeriodOf(now - GRACE_PERIOD) - HOUR;
  const hour = Math.max(await nextHour(records, latestHour), latestHour - COUNTS_LIFETIME + HOUR);
  if (hour > latestHour) return false;
  const sums = await sumEvents(records, hour, hour + HOUR);
  // Every summed hour gets a row, so that `nextHour` finds it.
  if (!sums.some(({ kind }) => kind === 'registered')) sums.push({ hour, kind: 'registered', detail: '', count: 0 });
  if (hour === latestHour) {
    if (users.list !== undefined) sums.push({ hour, kind: 'users', detail: '', count: await countUsers(deps) });
    sums.push({ hour, kind: 'sessions', detail: '', count: await countSessions(records) });
  }
  const store = records.unit(async (unit) => {
    for (const sum of sums) await unit.insert('hourlyCounts', sum);
  });
  await store.catch((error: unknown) => {
    // Another instance has summed the hour.
    if (!violates(error, keyName(TABLES.hourlyCounts))) throw error;
  });
  return true;
};

const countSessions = (records: Records): Promise<number> =>
  countRows(async (after, skip) => {
    const place = after !== null && { range: ['id', '>', after] as const };
    return (await records.list('sessions', { ...place, order: ['id'], skip, limit: 1 }))[0]?.id;
  });

export const OVERVIEW_RANGES = {
  '24h': { step: HOUR, steps: 24 },
  '7d': { step: DAY, steps: 7 },
  '30d': { step: DAY, steps: 30 },
} as const;
export type OverviewRange = keyof typeof OVERVIEW_RANGES;

/** The counts of each hour or day of a range, the latest numbers of users and sessions, and how many mails and deliveries wait. */
export const overview =
  ({ records, clock }: Pick<Stores, 'records'> & { readonly clock: Clock }) =>
  async (range: OverviewRange) => {
    const { step, steps } = OVERVIEW_RANGES[range];
    const now = clock.now();
    const first = now - (now % step) - (steps - 1) * step;
    const [stored, mails, webhooks] = await Promise.all([
      records.list('hourlyCounts', { range: ['hour', '>=', first], order: ['hour'] }),
      waitingMessages(records),
      waitingDeliveries(records),
    ]);
    const lastHour = stored.at(-1)?.hour ?? first - HOUR;
    const live = await sumEvents(records, lastHour + HOUR, now + 1, MAX_LIVE_EVENTS);
    const counts = [...stored, ...live];
    const latestOf = (kind: string) => counts.findLast((each) => each.kind === kind)?.count ?? null;
    return {
      ...{ users: latestOf('users'), sessions: latestOf('sessions'), waitingMails: mails, waitingWebhooks: webhooks },
      steps: Array.from({ length: steps }, (_, at) => {
        const from = first + at * step;
        return { at: from, counts: mergeHours(counts.filter(({ hour }) => hour >= from && hour < from + step)) };
      }),
    };
  };

/** Sums the counts of events over several hours. For users and sessions, it takes the latest count. */
const mergeHours = (counts: readonly HourlyCount[]): Omit<HourlyCount, 'hour'>[] => {
  const sums = Map.groupBy(counts, ({ kind, detail }) => `${kind} ${detail}`);
  return [...sums.values()].map((all) => {
    const { kind, detail, count } = all.at(-1) as HourlyCount;
    const isSummed = COUNTED_KINDS.includes(kind);
    return { kind, detail, count: isSummed ? all.reduce((sum, each) => sum + each.count, 0) : count };
  });
};
