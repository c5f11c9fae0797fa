import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { register } from '../../../src/application/accounts/register.ts';
import { login } from '../../../src/application/login/login.ts';
import { logout } from '../../../src/application/sessions/end-sessions.ts';
import { refresh } from '../../../src/application/sessions/refresh.ts';
import { NOTICE_GROUPS, type NoticeGroup } from '../../../src/domain/event-table.ts';
import { openSql } from '../../../src/infrastructure/open-sql.ts';
import { ADA, application, SECOND } from '../../support/application.ts';
import { aWebhook, NOW } from '../../support/builders.ts';
import { openPostgresLine } from '../../support/servers/postgres-line.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';

/** What a statement does to which table, or its first two words. */
const shortened = (statement: string): string => {
  if (statement.startsWith('with owner')) return LOG_IN;
  const [, locked] = /^select .* from "(\w+)".* for (?:no key )?update$/.exec(statement) ?? [];
  if (locked !== undefined) return `lock ${locked}`;
  const [, change, table] =
    /(insert into|update|delete from) "?(\w+)"?/.exec(statement) ?? /(select) .* from "(\w+)"/.exec(statement) ?? [];
  if (change === undefined) return statement.split(' ').slice(0, 2).join(' ');
  return `${change.split(' ')[0]} ${table}`;
};

/** The clock of the database is read every few seconds, whatever is asked for. */
const isOfRequest = (statement: string): boolean => !statement.startsWith('select extract(epoch');

/** It stores the session and counts the log-in. */
const LOG_IN = 'log in';
const BEGIN = 'begin isolation';
/** It looks for what is too much as well. */
const ADD_SESSION = ['insert sessions', 'select sessions'];
/** Adding an event reads these first: the webhooks, and the last one of those that are kept. */
const BEFORE_EVENT = ['select webhooks', 'select events'];

describe.runIf(TEST_DATABASE_URL !== undefined)('the statements that are sent to PostgreSQL', () => {
  let url: string;
  beforeEach(async () => {
    const created = await createDatabase(TEST_DATABASE_URL ?? '');
    url = created.url;
    return created.drop;
  });

  /** The use cases over one connection, which has been used. */
  const open = async (notices: readonly NoticeGroup[]) => {
    const line = await openPostgresLine(url);
    const {
      close,
      clock: _,
      ...storage
    } = await openSql({ ...onPostgresql(line.url), poolSize: 1 }, { migrate: true });
    onTestFinished(close);
    const deps = { ...application(), ...storage, mailNotices: new Set(notices) };
    const app = { register: register(deps), login: login(deps), refresh: refresh(deps), logout: logout(deps) };
    const opened = await app.register(ADA);
    const { refreshToken } = await app.refresh([opened.refreshToken]);
    deps.clock.advance(60 * SECOND);
    line.take();
    const sentBy = async (work: () => Promise<unknown>) => {
      await work();
      const trips = line.take().map((trip) => trip.filter(isOfRequest).map(shortened));
      return trips.filter((trip) => trip.length > 0);
    };
    const logIn = () => app.login({ account: 'Ada', password: ADA.password });
    return { ...app, refreshToken, sentBy, logIn, records: storage.records, line };
  };

  it('are few for each request, and few round trips', async () => {
    const { sentBy, register, logIn, refresh, refreshToken, logout } = await open([]);
    const seen = {
      register: await sentBy(() => register({ username: 'Bob', email: 'bob@example.org', password: ADA.password })),
      login: await sentBy(logIn),
      refresh: await sentBy(() => refresh([refreshToken])),
      logout: await sentBy(() => logout([refreshToken])),
    };
    expect(seen).toStrictEqual({
      register: [
        ...[[BEGIN], ['insert users'], ['select links'], ['lock users', 'select webhooks']],
        ...[[...ADD_SESSION, 'select events', 'insert events'], ['commit']],
      ],
      login: [['select users'], [LOG_IN]],
      refresh: [['update sessions']],
      logout: [
        ...[
          [BEGIN, 'lock users'],
          ['select mass_endings', 'select sessions'],
          ['select sessions'],
          ['delete sessions'],
        ],
        ...[[...BEFORE_EVENT, 'insert events'], ['insert ended_sessions'], ['commit']],
      ],
    });
  });

  it('are as few for a log-in on a device that is known, with notices', async () => {
    const { sentBy, logIn } = await open(NOTICE_GROUPS);
    expect(await sentBy(logIn)).toStrictEqual([['select users'], [LOG_IN]]);
  });

  it('are also those of a transaction for a log-in where there is a webhook', async () => {
    const { sentBy, logIn, records, line } = await open([]);
    await records.insert('webhooks', aWebhook({ disabledAt: NOW }));
    line.take();
    expect(await sentBy(logIn)).toStrictEqual([
      ...[['select users'], [LOG_IN], [BEGIN, 'lock users']],
      // It is counted with the others on its device.
      ...[['select webhooks', ...ADD_SESSION, 'select events', 'select events'], ['insert events'], ['commit']],
    ]);
  });
});
