import type { Row } from '../../src/adapters/records/memory.ts';
import type { TableName } from '../../src/application/storage/tables.ts';
import type { Change } from '../support/records/read-committed.ts';
import { database } from './database.ts';
import { expect, HOUR, kernel, SECOND } from './kernel.ts';
import type { Rule } from './rules.ts';
import { facts } from './world.ts';

/** Rules that every commit has to fulfil, whoever has caused it. They are stated here again, independently of the code of the service. */

const OF_LINKS = ['handed-over', 'email-change', 'confirmation-code'];
const OF_ADDRESS = [...OF_LINKS, 'password-reset', 'email-verification', 'not-me'];
const OF_BROWSERS = ['sessions', 'rememberedDevices'] as const;
/** For the event of an act: the tables, and the purposes of links, of which the user must have no row from before the act. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  'password-changed': [...OF_BROWSERS, ...OF_LINKS],
  'password-reset': [...OF_BROWSERS, ...OF_ADDRESS],
  'email-changed': OF_ADDRESS,
  'email-change-undone': [...OF_BROWSERS, ...OF_ADDRESS],
  'factors-undone': [...OF_BROWSERS, ...OF_ADDRESS],
  disabled: OF_BROWSERS,
};

const { rows, watch } = database;
const added = (changes: readonly Change[], table: TableName) =>
  changes.flatMap((each) => (each.table === table && !each.before && each.after ? [each.after] : []));
const ofUser = (table: TableName, { userId }: Row) => rows(table).filter((row) => row.userId === userId);
const userOf = ({ userId }: Row) => rows('users').find(({ id }) => id === userId);

/** Whether the rule holds, or a text why it need not; `undefined` if the rule is not about the row. */
type Verdict = boolean | string | undefined;
/** @param row was added, replaced or removed. @param changes all changes of the commit. @param before the row before the change */
type Check = (row: Row, changes: readonly Change[], before: Row) => Verdict;
const on = (when: string, table: TableName, rule: Rule, check: Check): void =>
  watch(table, ({ before, after }, changes) => {
    const row = after ?? before;
    const how = before ? (after ? 'replaced' : 'removed') : 'added';
    const verdict = row && when.includes(how) ? check(row, changes, before ?? row) : undefined;
    const text = () => `${table} ${row?.kind} ${row?.reason} ${row?.id}`;
    if (verdict !== undefined) expect(rule, verdict === true, text, typeof verdict === 'string' && verdict);
  });
const onEvent = (kinds: readonly string[], rule: Rule, check: Check): void =>
  on('added', 'events', rule, (event, ...more) =>
    kinds.includes(String(event.kind)) && userOf(event) ? check(event, ...more) : undefined,
  );

onEvent([...Object.keys(ENDS), 'session-ended', 'enabled'], 'webhooks come at least once', ({ id }, changes) =>
  added(changes, 'deliveries').some(({ event }) => (event as Row).id === id),
);
onEvent(['disabled', 'session-ended'], 'the list of ended sessions names each', (event, changes) => {
  if (event.reason === 'expired' || event.reason === 'replaced') return undefined;
  const { userId, sessionId } = event;
  const isInList = (row: Row) => row.sessionId === sessionId && row.userId === (sessionId ? null : userId);
  // After the end of all sessions of all users, one row of `massEndings` stands for all of them.
  const isOfAll = changes.some(({ table }) => table === 'massEndings') || rows('massEndings').length > 0;
  return isOfAll || added(changes, 'endedSessions').some(isInList);
});
onEvent(['session-ended'], 'an end has its reason', (event) =>
  event.reason === 'evicted' ? ofUser('sessions', event).length >= 50 : undefined,
);
onEvent(Object.keys(ENDS), 'what ends a way in ends it everywhere', (event) => {
  const ends = ENDS[String(event.kind)] ?? [];
  const links = ofUser('links', event).filter(({ purpose }) => ends.includes(String(purpose)));
  const browsers = OF_BROWSERS.flatMap((table) => (ends.includes(table) ? ofUser(table, event) : []));
  return ![...links, ...browsers].some((row) => Number(row.createdAt) < Number(event.at));
});
onEvent(['password-changed'], 'a change is told by mail', (event, changes) => {
  if (added(changes, 'outbox').some(({ kind }) => kind === event.kind)) return true;
  const isRecent = ({ kind, at }: Row) => kind === event.kind && Number(at) >= Number(event.at) - HOUR;
  return ofUser('events', event).filter(isRecent).length > 5 && 'a limit';
});

on('removed', 'sessions', 'an end has its reason', ({ id, expiresAt }) => {
  const reason = facts.ended.get(String(id))?.reason;
  return reason !== 'silently' && !(reason === 'expired' && Number(expiresAt) > kernel.time);
});
on('added', 'sessions', 'a new session has the key of the former one', ({ id, deviceKey }, changes) => {
  const isOpened = (row: Row) => row.kind === 'session-opened' && row.sessionId === id;
  const ended = changes.filter(({ table, after }) => table === 'sessions' && !after);
  return ended.some(({ before }) => before?.deviceKey === deviceKey) || !added(changes, 'events').some(isOpened);
});
on('added', 'sessions', 'a disabled account gets no token', (session) => userOf(session)?.disabledAt === null);
const GROWS: Check = ({ version }, _changes, before) => version > before.version;
on('replaced', 'sessions', 'no change is lost', GROWS);
on('replaced', 'users', 'no change is lost', GROWS);

/** The waiting deliveries of a user to a webhook, of which only the first one may be due. */
const dueIn = (row: Row) => {
  const lane = ofUser('deliveries', row).filter((each) => each.webhookId === row.webhookId && each.isWaiting);
  return { isEmpty: lane.length === 0, due: lane.filter(({ nextAttemptAt }) => nextAttemptAt !== null).length };
};
on('added, replaced, removed', 'deliveries', 'webhooks come in order', (row) => dueIn(row).due <= 1);
on('added, replaced, removed', 'deliveries', 'webhooks come at least once', (row) => {
  const { isEmpty, due } = dueIn(row);
  return isEmpty || due > 0;
});

on('removed', 'outbox', 'no mail is lost', ({ id, createdAt }, changes) => {
  // The mail was removed by itself, and is too young to be given up: so the mail server must have accepted it.
  const isSettled = changes.length === 1 && Number(createdAt) > kernel.time - 5 * HOUR;
  return !isSettled || !(kernel.time - Number(facts.refused.get(id)) < 5 * SECOND);
});
on('removed', 'outbox', 'no mail is lost', (mail) => {
  if (mail.kind !== 'password-changed' || facts.letters.some(({ id }) => id === mail.id)) return undefined;
  const user = userOf(mail);
  // The deletion of an account deletes its mails, too (ADR 0010).
  if (user === undefined) return undefined;
  const isProven = user.email === mail.to && user.emailVerifiedAt !== null;
  return !isProven && facts.letters.filter(({ to }) => to === mail.to).length >= 5 && 'a limit';
});

const ONCE = 'of what works once one use succeeds';
on('replaced, removed', 'usedValues', ONCE, (_row, _changes, { expiresAt }) => Number(expiresAt) <= kernel.time);
on('replaced', 'factors', ONCE, (row, _changes, before) => Number(row.lastStep) > Number(before.lastStep));
