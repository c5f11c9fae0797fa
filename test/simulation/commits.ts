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
type Rows = SimulatedDatabase['rows'];

/** A commit, as rules look at it. */
const commitOf = (rows: Rows, changes: readonly Change[]) => ({
  changes,
  /** Whether all sessions are ended, which the list says in one entry. */
  isOfAll: changes.some(({ table }) => table === 'massEndings') || rows('massEndings').length > 0,
  stored: rows,
  ofUser: (table: 'sessions' | 'links' | 'rememberedDevices' | 'events', { userId }: Row) =>
    rows(table).filter((row) => row.userId === userId),
  userOf: ({ userId }: Row) => rows('users').find(({ id }) => id === userId),
  added: (table: string) =>
    changes.flatMap((each) => (each.table === table && !each.before && each.after ? [each.after] : [])),
});
type Commit = ReturnType<typeof commitOf>;

const ofEvent = (event: Row, { isOfAll, added, ofUser, userOf }: Commit): Verdict[] => {
  const { id, kind, at, reason, userId, sessionId } = event;
  const ends = ENDS[String(kind)] ?? [];
  const isOld = ({ createdAt }: Row) => Number(createdAt) < Number(at);
  const links = ofUser('links', event).filter(({ purpose }) => ends.includes(String(purpose)));
  const browsers = ends.includes('sessions')
    ? [...ofUser('sessions', event), ...ofUser('rememberedDevices', event)]
    : [];
  const isListed = added('endedSessions').some(
    (row) => row.sessionId === sessionId && row.userId === (sessionId ? null : userId),
  );
  const isRecent = (each: Row) => each.kind === kind && Number(each.at) > kernel.time - HOUR;
  const verdicts: (Verdict | false)[] = [
    TOLD.includes(String(kind)) && [
      'webhooks come at least once',
      added('deliveries').some((row) => (row.event as Row).id === id),
    ],
    (kind === 'disabled' || (kind === 'session-ended' && !UNLISTED.includes(reason))) && [
      'the list of ended sessions names each',
      isListed || isOfAll,
    ],
    reason === 'evicted' && ['an end has its reason', ofUser('sessions', event).length >= 50],
    ends.length > 0 && ['what ends a way in ends it everywhere', ![...links, ...browsers].some(isOld)],
    kind === 'password-changed' && [
      'a change is told by mail',
      added('outbox').some((row) => row.kind === kind),
      ofUser('events', event).filter(isRecent).length > 5 && 'a limit',
    ],
  ];
  return userOf(event) === undefined ? [] : verdicts.filter((each) => each !== false);
};

const ofSession = (session: Row, { changes, userOf }: Commit): Verdict[] => {
  const isReplacing = changes.some(({ after }) => after?.kind === 'session-opened' && after.sessionId === session.id);
  const isFormer = ({ table, before, after }: Change) =>
    table === 'sessions' && !after && before?.deviceKey === session.deviceKey;
  return [
    ['a new session has the key of the former one', !isReplacing || changes.some(isFormer)],
    ['a disabled account gets no token', userOf(session)?.disabledAt === null],
  ];
};

const ofEnded = (session: Row, { isOfAll, added, userOf }: Commit): Verdict => {
  const end = added('events').find(({ kind, sessionId }) => kind === 'session-ended' && sessionId === session.id);
  const isTrue = end !== undefined && (end.reason !== 'expired' || Number(session.expiresAt) <= kernel.time);
  return ['an end has its reason', isTrue || isOfAll || userOf(session) === undefined];
};

/** Of the deliveries of a user, the first one is due, and no other. */
const ofLane = ({ userId, webhookId }: Row, { stored }: Commit): Verdict[] => {
  const lane = stored('deliveries').filter(
    (row) => row.userId === userId && row.webhookId === webhookId && row.isWaiting,
  );
  const due = lane.filter(({ nextAttemptAt }) => nextAttemptAt !== null);
  return [
    ['webhooks come in order', due.length <= 1],
    ['webhooks come at least once', due.length > 0 || lane.length === 0],
  ];
};

const ofChange = ({ table, before, after }: Change, commit: Commit, { sent }: Facts): (Verdict | false)[] => {
  const row = (after ?? before) as Row;
  const others = [...sent.values()].filter((to) => to === row.to);
  return [
    ...(table === 'events' && !before ? ofEvent(row, commit) : []),
    ...(table === 'sessions' && !before ? ofSession(row, commit) : []),
    ...(table === 'deliveries' ? ofLane(row, commit) : []),
    table === 'sessions' && !after && ofEnded(row, commit),
    table === 'usedValues' && [
      'of what works once one use succeeds',
      !before || Number(before.expiresAt) <= kernel.time,
    ],
    ['users', 'sessions'].includes(table) &&
      before !== undefined &&
      after !== undefined && ['no change is lost', after.version > before.version],
    table === 'outbox' &&
      !after &&
      row.kind === 'password-changed' && ['no mail is lost', sent.has(String(row.id)), others.length >= 5 && 'a limit'],
  ];
};

export const judgeCommits = ({ watchers, rows }: SimulatedDatabase, story: Story, facts: Facts): void => {
  watchers.push((changes) => {
    const commit = commitOf(rows, changes);
    for (const change of changes.filter(({ before, after }) => before ?? after))
      story.judge(ofChange(change, commit, facts), () => {
        const { kind, reason, id } = (change.after ?? change.before) as Row;
        return [change.table, kind, reason, id].join(' ');
      });
  });
};
