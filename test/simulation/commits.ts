import type { TableName } from '../../src/application/storage/tables.ts';
import type { Change, SimulatedDatabase } from './database.ts';
import type { Facts } from './facts.ts';
import { HOUR, kernel } from './kernel.ts';
import type { Story, Verdict } from './rules.ts';

/** What every commit has to hold, whoever has caused it: rules of rows, stated once more and not taken from the service. */

const OF_LINKS = ['handed-over', 'email-change', 'confirmation-code'];
const OF_ADDRESS = [...OF_LINKS, 'password-reset', 'email-verification', 'not-me'];
const OF_BROWSERS = ['sessions', 'rememberedDevices'];
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
type Commit = ReturnType<typeof commitOf>;
type Judge = (change: Pick<Change, 'before' | 'after'>, commit: Commit) => (Verdict | false)[];

/** A commit, as rules look at it. */
const commitOf = ({ rows }: SimulatedDatabase, changes: readonly Change[], facts: Facts) => ({
  ...{ changes, facts },
  /** Whether all sessions are ended, which the list says in one entry. */
  isOfAll: changes.some(({ table }) => table === 'massEndings') || rows('massEndings').length > 0,
  ofUser: (table: TableName, { userId }: Row) => rows(table).filter((row) => row.userId === userId),
  userOf: ({ userId }: Row) => rows('users').find(({ id }) => id === userId),
  added: (table: TableName) =>
    changes.flatMap((each) => (each.table === table && !each.before && each.after ? [each.after] : [])),
});

const ofEvent: Judge = ({ before, after: event }, { isOfAll, added, ofUser, userOf }) => {
  if (before || !event || !userOf(event)) return [];
  const { id, kind, at, reason, userId, sessionId } = event;
  const ends = ENDS[String(kind)] ?? [];
  const links = ofUser('links', event).filter(({ purpose }) => ends.includes(String(purpose)));
  const browsers = ends.includes('sessions') ? OF_BROWSERS.flatMap((name) => ofUser(name as TableName, event)) : [];
  const left = [...links, ...browsers].filter(({ createdAt }) => Number(createdAt) < Number(at));
  const isListed = added('endedSessions').some(
    (row) => row.sessionId === sessionId && row.userId === (sessionId ? null : userId),
  );
  const isEnd = kind === 'disabled' || (kind === 'session-ended' && !UNLISTED.includes(reason));
  const recent = ofUser('events', event).filter((row) => row.kind === kind && Number(row.at) > kernel.time - HOUR);
  return [
    TOLD.includes(String(kind)) && [
      'webhooks come at least once',
      added('deliveries').some((row) => (row.event as Row).id === id),
    ],
    isEnd && ['the list of ended sessions names each', isListed || isOfAll],
    reason === 'evicted' && ['an end has its reason', ofUser('sessions', event).length >= 50],
    ends.length > 0 && ['what ends a way in ends it everywhere', left.length === 0],
    kind === 'password-changed' && [
      'a change is told by mail',
      added('outbox').some((row) => row.kind === kind),
      recent.length > 5 && 'a limit',
    ],
  ];
};

const ofSession: Judge = ({ before, after }, { changes, isOfAll, added, userOf }) => {
  if (!after) {
    const end = added('events').find(({ kind, sessionId }) => kind === 'session-ended' && sessionId === before?.id);
    const isTrue = end !== undefined && (end.reason !== 'expired' || Number(before?.expiresAt) <= kernel.time);
    return [['an end has its reason', isTrue || isOfAll || !before || !userOf(before)]];
  }
  if (before) return [['no change is lost', after.version > before.version]];
  const isReplacing = added('events').some(
    ({ kind, sessionId }) => kind === 'session-opened' && sessionId === after.id,
  );
  const isFormer = (each: Change) =>
    each.table === 'sessions' && !each.after && each.before?.deviceKey === after.deviceKey;
  return [
    ['a new session has the key of the former one', !isReplacing || changes.some(isFormer)],
    ['a disabled account gets no token', userOf(after)?.disabledAt === null],
  ];
};

/** Of the deliveries of a user, the first one is due, and no other. */
const ofDelivery: Judge = ({ before, after }, { ofUser }) => {
  const row = (after ?? before) as Row;
  const lane = ofUser('deliveries', row).filter((each) => each.webhookId === row.webhookId && each.isWaiting);
  const due = lane.filter(({ nextAttemptAt }) => nextAttemptAt !== null);
  return [
    ['webhooks come in order', due.length <= 1],
    ['webhooks come at least once', due.length > 0 || lane.length === 0],
  ];
};

const ofMail: Judge = ({ before, after }, { facts: { sent } }) => {
  if (after || before?.kind !== 'password-changed') return [];
  const others = [...sent.values()].filter((to) => to === before.to);
  return [['no mail is lost', sent.has(String(before.id)), others.length >= 5 && 'a limit']];
};

const JUDGES: Partial<Record<TableName, Judge>> = {
  ...{ events: ofEvent, sessions: ofSession, deliveries: ofDelivery, outbox: ofMail },
  users: ({ before, after }) => [
    before !== undefined && after !== undefined && ['no change is lost', after.version > before.version],
  ],
  usedValues: ({ before }) => [
    ['of what works once one use succeeds', !before || Number(before.expiresAt) <= kernel.time],
  ],
  factors: ({ before, after }) => [
    before !== undefined &&
      after !== undefined && ['of what works once one use succeeds', Number(after.lastStep) > Number(before.lastStep)],
  ],
};

export const judgeCommits = (database: SimulatedDatabase, story: Story, facts: Facts): void => {
  database.watchers.push((changes) => {
    const commit = commitOf(database, changes, facts);
    for (const { table, before, after } of changes) {
      const row = after ?? before;
      if (row === undefined) continue;
      const verdicts = JUDGES[table]?.({ before, after }, commit) ?? [];
      story.judge(verdicts, () => [table, row.kind, row.reason, row.id].join(' '));
    }
  });
};
