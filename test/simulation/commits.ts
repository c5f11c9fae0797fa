import type { TableName } from '../../src/application/storage/tables.ts';
import { type Change, database } from './database.ts';
import { HOUR, type Judge, judgeOf, kernel, SECOND } from './kernel.ts';
import { facts } from './world.ts';

/** What every commit has to hold, whoever has caused it: rules of rows, stated once more and not taken from the service. */

const OF_LINKS = ['handed-over', 'email-change', 'confirmation-code'];
const OF_ADDRESS = [...OF_LINKS, 'password-reset', 'email-verification', 'not-me'];
const OF_BROWSERS = ['sessions', 'rememberedDevices'] as const;
/** By the events of acts: tables and purposes of links of which nothing is left that the user had before. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  'password-changed': [...OF_BROWSERS, ...OF_LINKS],
  'password-reset': [...OF_BROWSERS, ...OF_ADDRESS],
  'email-changed': OF_ADDRESS,
  'email-change-undone': [...OF_BROWSERS, ...OF_ADDRESS],
  'factors-undone': [...OF_BROWSERS, ...OF_ADDRESS],
  disabled: OF_BROWSERS,
};
/** Of these events, receivers of webhooks are told. */
const TOLD = [...Object.keys(ENDS), 'session-ended', 'enabled'];
/** How those end that the list of ended sessions need not name. */
const UNLISTED: readonly unknown[] = ['expired', 'replaced'];

type Row = NonNullable<Change['after']>;
type Rules = (change: Change, judge: Judge, changes: readonly Change[]) => void;
const { rows, watch } = database;
const hold = (table: TableName, rules: Rules): void =>
  watch(table, (change, changes) => {
    const { kind, reason, id } = Object(change.after ?? change.before);
    const judge = judgeOf(() => `${table} ${kind} ${reason} ${id}`);
    rules(change, judge, changes);
  });
const added = (changes: readonly Change[], table: TableName) =>
  changes.flatMap((each) => (each.table === table && !each.before && each.after ? [each.after] : []));
const ofUser = (table: TableName, { userId }: Row) => rows(table).filter((row) => row.userId === userId);
const userOf = ({ userId }: Row) => rows('users').find(({ id }) => id === userId);

hold('events', ({ before, after: event }, judge, changes) => {
  if (before || !event || !userOf(event)) return;
  const { id, at, reason, userId, sessionId } = event;
  const kind = String(event.kind);
  const isHook = (row: Row) => (row.event as Row).id === id;
  if (TOLD.includes(kind)) judge('webhooks come at least once', added(changes, 'deliveries').some(isHook));
  if (kind === 'disabled' || (kind === 'session-ended' && !UNLISTED.includes(reason))) {
    const isInList = (row: Row) => row.sessionId === sessionId && row.userId === (sessionId ? null : userId);
    // The end of all sessions is one entry.
    const isOfAll = changes.some(({ table }) => table === 'massEndings') || rows('massEndings').length > 0;
    judge('the list of ended sessions names each', isOfAll || added(changes, 'endedSessions').some(isInList));
  }
  if (reason === 'evicted') judge('an end has its reason', ofUser('sessions', event).length >= 50);
  const ends = ENDS[kind];
  if (ends) {
    const kept = ofUser('links', event).filter(({ purpose }) => ends.includes(String(purpose)));
    const browsers = OF_BROWSERS.flatMap((table) => (ends.includes(table) ? ofUser(table, event) : []));
    const isOld = (row: Row) => Number(row.createdAt) < Number(at);
    judge('what ends a way in ends it everywhere', ![...kept, ...browsers].some(isOld));
  }
  if (kind !== 'password-changed') return;
  const recent = ofUser('events', event).filter((row) => row.kind === kind && Number(row.at) > kernel.time - HOUR);
  const isTold = added(changes, 'outbox').some((row) => row.kind === kind);
  judge('a change is told by mail', isTold, recent.length > 5 && 'a limit');
});

hold('sessions', ({ before, after }, judge, changes) => {
  if (!after) {
    const reason = before && facts.ended.get(String(before.id))?.reason;
    const isFalse = reason === 'silently' || (reason === 'expired' && Number(before?.expiresAt) > kernel.time);
    return judge('an end has its reason', !isFalse);
  }
  if (before) return judge('no change is lost', after.version > before.version);
  const isOpened = (row: Row) => row.kind === 'session-opened' && row.sessionId === after.id;
  const ended = changes.filter((each) => each.table === 'sessions' && !each.after);
  const hasKey = ended.some((each) => each.before?.deviceKey === after.deviceKey);
  judge('a new session has the key of the former one', hasKey || !added(changes, 'events').some(isOpened));
  judge('a disabled account gets no token', userOf(after)?.disabledAt === null);
});

/** Of the deliveries of a user, the first one is due, and no other. */
hold('deliveries', ({ before, after }, judge) => {
  const row = after ?? before;
  if (!row) return;
  const lane = ofUser('deliveries', row).filter((each) => each.webhookId === row.webhookId && each.isWaiting);
  const due = lane.filter(({ nextAttemptAt }) => nextAttemptAt !== null);
  judge('webhooks come in order', due.length <= 1);
  judge('webhooks come at least once', due.length > 0 || lane.length === 0);
});

hold('outbox', ({ before, after }, judge, changes) => {
  if (after || !before) return;
  // Nothing else has happened, and it is too young to be given up.
  const isSettled = changes.length === 1 && Number(before.createdAt) > kernel.time - 5 * HOUR;
  judge('no mail is lost', !isSettled || !(kernel.time - Number(facts.refused.get(before.id)) < 5 * SECOND));
  if (before.kind !== 'password-changed') return;
  const { email, emailVerifiedAt } = Object(userOf(before));
  const isProven = email === before.to && emailVerifiedAt !== null;
  const isLimited = !isProven && facts.letters.filter(({ to }) => to === before.to).length >= 5;
  const isSent = facts.letters.some(({ id }) => id === before.id);
  judge('no mail is lost', isSent, isLimited && 'a limit');
});

hold('users', ({ before, after }, judge) => {
  if (before && after) judge('no change is lost', after.version > before.version);
});
hold('usedValues', ({ before }, judge) => {
  judge('of what works once one use succeeds', !before || Number(before.expiresAt) <= kernel.time);
});
hold('factors', ({ before, after }, judge) => {
  if (before && after) judge('of what works once one use succeeds', Number(after.lastStep) > Number(before.lastStep));
});
