import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { register } from '../../../src/application/accounts/register.ts';
import { login } from '../../../src/application/login/login.ts';
import { logout } from '../../../src/application/sessions/end-sessions.ts';
import { refresh } from '../../../src/application/sessions/refresh.ts';
import { NOTICES, type Notice } from '../../../src/domain/happenings.ts';
import { openSql } from '../../../src/infrastructure/open-sql.ts';
import { ADA, application, SECOND } from '../../support/application.ts';
import { openPostgresLine } from '../../support/servers/postgres-line.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';

/** What a statement does to which table, or its first two words. */
const shortened = (statement: string): string => {
  const [, locked] = /^select .* from "(\w+)".* for (?:no key )?update$/.exec(statement) ?? [];
  if (locked !== undefined) return `lock ${locked}`;
  const [, change, table] =
    /(insert into|update|delete from) "?(\w+)"?/.exec(statement) ?? /(select) .* from "(\w+)"/.exec(statement) ?? [];
  if (change === undefined) return statement.split(' ').slice(0, 2).join(' ');
  return `${change.split(' ')[0]} ${table}`;
};

/** The clock of the database is read every few seconds, whatever is asked for. */
const isOfRequest = (statement: string): boolean => !statement.startsWith('select extract(epoch');

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
  const open = async (notices: readonly Notice[]) => {
    const line = await openPostgresLine(url);
    const {
      close,
      clock: _,
      ...storage
    } = await openSql({ ...onPostgresql(line.url), poolSize: 1 }, { migrate: true });
    onTestFinished(close);
    const deps = { ...application(), ...storage, notices: new Set(notices) };
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
    return { ...app, refreshToken, sentBy, logIn };
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
        ...[[BEGIN], ['insert users'], ['select links'], ['lock users'], ADD_SESSION],
        ...[[...BEFORE_EVENT, 'insert events'], ['commit']],
      ],
      // It is counted with the others on its device.
      login: [
        ...[['select users'], [BEGIN, 'lock users'], ADD_SESSION],
        ...[[...BEFORE_EVENT, 'select events'], ['insert events'], ['commit']],
      ],
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

  it('are two more for a log-in on a device that is known, with notices', async () => {
    const { sentBy, logIn } = await open(NOTICES);
    expect(await sentBy(logIn)).toStrictEqual([
      ...[['select users'], [BEGIN, 'lock users'], ['select events'], ADD_SESSION],
      ...[[...BEFORE_EVENT, 'select events'], ['insert events'], ['select events'], ['commit']],
    ]);
  });
});
