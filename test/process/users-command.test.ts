import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Database, openDatabase } from '../../src/adapters/mikro-orm/open-database.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { EVENTS_KEPT } from '../../src/domain/event.ts';
import { aMessage, anEvent, aSession, aUser } from '../support/builders.ts';
import { aPerson, cookiePair, refreshCookieOf } from '../support/http/service.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { type RunningService, runService, spawnService } from '../support/processes/process.ts';
import { runUsersCommand, spawnUsersCommand } from '../support/processes/users-command.ts';
import { onSqlite } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Characters that a terminal takes for commands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const COMMANDS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
const TOKEN = /#token=([\w-]{43})/;

describe('npm run users on a file of SQLite', () => {
  const directory = temporaryDirectory();
  const env = { DATA_DIR: directory.path, BCRYPT_COST: '4' };
  const ada = aPerson();
  const bob = aPerson();
  let service: RunningService | undefined;
  afterAll(async () => {
    await service?.stop('SIGKILL');
    directory.remove();
  });
  beforeAll(async () => {
    service = await runService(env);
    const http = documentedHttp(service.url);
    for (const person of [ada, bob]) await http.post('/auth/register').send(person).expect(201);
    await http.post('/auth/login').send({ account: ada.email, password: 'wrong' }).expect(401);
    const login = { account: ada.email, password: ada.password };
    const phone = await http.post('/auth/login').set('User-Agent', 'A phone').send(login).expect(200);
    await http
      .get('/auth/clear-cookie')
      .set('Cookie', cookiePair(refreshCookieOf(phone)))
      .expect(200);
    const beside = await runUsersCommand(['find', ada.username, '--json'], env);
    expect([beside.code, JSON.parse(beside.stdout).user.email]).toEqual([0, ada.email]);
    // What is counted in memory is stored when the service stops.
    await service.stop();
  });

  describe('that is opened once', () => {
    let database: Database;
    beforeAll(async () => {
      database = await openDatabase(onSqlite(join(directory.path, 'database.sqlite')), { migrate: true });
    });
    afterAll(() => database.close());

    const users = (...args: string[]) => runUsersCommand(args, env, { storage: storageOver(database.records) });
    const report = async (...args: string[]) => {
      const { code, stdout } = await users(...args, '--json');
      return { code, ...JSON.parse(stdout) };
    };

    it('finds a user by username, email address and id, in any letter case', async () => {
      const { user } = await report('find', ada.username.toUpperCase());
      expect(user).toMatchObject({
        username: ada.username,
        email: ada.email,
        disabledAt: null,
        passwordChangedAt: null,
      });
      expect((await report('find', ada.email.toUpperCase())).user).toStrictEqual(user);
      expect((await report('find', user.id)).user).toStrictEqual(user);
      expect((await report('find', user.id.toLowerCase())).user).toStrictEqual(user);
      expect(await report('find', 'nobody')).toMatchObject({ code: 3, error: { code: 'not-found' } });
      const { stdout } = await users('find', ada.email);
      expect(stdout.split('\n')).toStrictEqual([
        expect.stringMatching(/^ID +USERNAME +EMAIL +REGISTERED +STATE$/),
        expect.stringMatching(new RegExp(`^${user.id}  ${ada.username}  ${ada.email}  ${user.createdAt}  enabled$`)),
      ]);
    });

    it('says why a user was logged out', async () => {
      const { code, events } = await report('events', ada.email);
      expect(code).toBe(0);
      expect(events).toMatchObject([
        { kind: 'session-ended', reason: 'logout', address: '127.0.0.0/24' },
        { kind: 'logged-in', userAgent: 'A phone' },
        { kind: 'login-refused', count: 1 },
        { kind: 'registered' },
      ]);
      const [ended] = events;
      const range = await report('events', ada.email, '--since', ended.at, '--until', ended.at);
      expect(range.events).toContainEqual(ended);
      expect((await report('events', ada.email, '--until', '2020-01-01T00:00')).events).toStrictEqual([]);
      const { stdout } = await users('events', ada.username);
      expect(stdout).toContain(`${ended.at}  session-ended  logout`);
    });

    it('shows sessions, and exports everything without secrets', async () => {
      const shown = await report('show', ada.email);
      expect(shown.sessions).toMatchObject([{ binding: 'none' }]);
      const { stdout } = await users('export', ada.email);
      expect(JSON.parse(stdout)).toMatchObject({ user: { email: ada.email }, sessions: shown.sessions });
      expect(JSON.parse(stdout).events).toHaveLength(4);
      expect(stdout).not.toMatch(/hash|\$2[aby]\$|currentTokenId/i);
      expect((await users('show', ada.email)).stdout).toMatch(/^SESSION +OPENED +LAST USED +ADDRESS +BOUND +DEVICE$/m);
    });

    it('asks before what cannot be undone, and changes nothing without an answer or in a dry run', async () => {
      for (const command of ['disable', 'end-sessions', 'remove-factors', 'delete']) {
        expect(await report(command, ada.email)).toMatchObject({ code: 2, error: { code: 'not-confirmed' } });
        expect(await report(command, ada.email, '--dry-run')).toMatchObject({ code: 0, dryRun: true, changed: false });
      }
      expect(await report('show', ada.email)).toMatchObject({ user: { disabledAt: null }, sessions: [{}] });
    });

    it('disables and enables an account, and ends its sessions', async () => {
      const about = { code: 0, dryRun: false };
      expect(await report('disable', ada.email, '--yes', '--as', 'Una')).toMatchObject({
        ...about,
        changed: true,
        endedSessions: 1,
      });
      expect(await report('disable', ada.email, '--yes')).toMatchObject({ ...about, changed: false, endedSessions: 0 });
      expect(await report('reset-link', ada.email)).toMatchObject({ code: 1, error: { code: 'disabled' } });
      const shown = await report('show', ada.email);
      expect(shown).toMatchObject({ user: { disabledAt: expect.any(String) }, sessions: [] });
      expect(await report('enable', ada.email)).toMatchObject({ ...about, changed: true });
      expect(await report('enable', ada.email)).toMatchObject({ ...about, changed: false });
      const { events } = await report('events', ada.email);
      expect(events.slice(0, 3)).toMatchObject([
        { kind: 'enabled', requestId: null, address: null, actor: userInfo().username },
        { kind: 'session-ended', reason: 'operator', actor: 'Una' },
        { kind: 'disabled', actor: 'Una' },
      ]);
      expect((await users('events', ada.email)).stdout).toMatch(/session-ended +operator +Una /);
      expect(JSON.parse((await users('export', ada.email)).stdout).events[0].actor).toBe('operator');
    });

    it('deletes an account', async () => {
      expect(await report('delete', bob.username, '--yes', '--as', ' Una Operator ')).toMatchObject({ changed: true });
      expect(await report('delete', bob.username, '--yes')).toMatchObject({ code: 3 });
      expect((await report('find', ada.email)).code).toBe(0);
    });
  });

  it('makes a link of which only the hash is stored, and writes an audit line to standard error', async () => {
    const { stdout, stderr } = await spawnUsersCommand(['reset-link', ada.email], env);
    const [, token] = TOKEN.exec(stdout) ?? [];
    expect(token).toBeDefined();
    expect(JSON.parse(stderr)).toMatchObject({ msg: 'account event', kind: 'password-reset-requested' });
    expect(stderr).not.toContain(token);
    const shown = JSON.parse((await runUsersCommand(['show', ada.email, '--json'], env)).stdout);
    const links = shown.links as { readonly purpose: string }[];
    expect(links.filter(({ purpose }) => purpose === 'password-reset')).toMatchObject([{ email: ada.email }]);
    expect(JSON.stringify(shown)).not.toContain(token);
  });

  it('are in the audit log of the service that starts next, with their operator, and once', async () => {
    const logged = async (isThere: (kinds: readonly unknown[]) => void = () => undefined) => {
      const running = await runService(env);
      service = running;
      const lines = () => running.stdout.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'account event');
      await vi.waitFor(() => isThere(lines().map(({ kind }) => kind)), { timeout: 60_000 });
      await running.stop();
      return lines();
    };
    expect(await logged((kinds) => expect(kinds).toContain('password-reset-requested'))).toMatchObject([
      { kind: 'disabled', actor: 'Una', at: expect.any(String) },
      { kind: 'session-ended', reason: 'operator', actor: 'Una' },
      { kind: 'enabled', actor: userInfo().username },
      { kind: 'deleted', actor: 'Una Operator' },
      { kind: 'session-ended', reason: 'account-deleted', actor: 'Una Operator' },
      { kind: 'password-reset-requested', actor: userInfo().username },
    ]);
    expect(await logged()).toEqual([]);
  });

  it.each([
    [[]],
    [['find']],
    [['find', 'ada', 'bob']],
    [['find', 'ada', '--since', '2026-11-22']],
    [['events', 'ada', '--since', '2026-02-30T10:00']],
    [['events', 'ada', '--as', 'Una']],
    [['disable', 'ada', '--as', ' ']],
    [['disable', 'ada', '--as', 'U\u202ena']],
    [['events', 'ada', '--since', '2026-11-22T10:02', '--until', '2026-11-22T10:01']],
  ])('refuses the arguments %j', async (args) => {
    const { code, stdout, stderr } = await runUsersCommand(args, env);
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('npx tandem users find USER');
  });
});

/** More than a pipe holds, and more than a page. */
const MANY = EVENTS_KEPT;

describe('the output of npm run users', () => {
  const directory = temporaryDirectory();
  afterAll(directory.remove);
  const env = { DATA_DIR: directory.path };
  const user = aUser();
  beforeAll(async () => {
    const { records, close } = await openDatabase(onSqlite(join(directory.path, 'database.sqlite')), { migrate: true });
    const { users, sessions, events, outbox } = storageOver(records);
    await users.add(user);
    for (const keys of [{}, { deviceKey: 'a page' }, { deviceKey: 'a page', browserKey: 'a browser' }])
      await sessions.add(aSession({ userId: user.id, userAgent: 'A phone', ...keys }));
    const all = Array.from({ length: MANY }, () => anEvent({ userId: user.id, userAgent: 'A phone' }));
    await events.add(all);
    await outbox.add([aMessage({ kind: 'new-device', userId: user.id, to: user.email, attempts: 3 })]);
    await close();
  });

  it.each([[['events', '--since', '2020-01-01']], [['export']]])(
    'may be closed before its end, as by head, without an error: %j',
    async (args) => {
      const { child, stderr, outcome } = spawnService(env, [], undefined, ['users', ...args, user.id]);
      child.stdout?.once('data', () => child.stdout?.destroy());
      expect(await outcome).toStrictEqual({ code: 0, signal: null });
      expect(stderr).toStrictEqual([]);
    },
  );

  it('says how each session is bound', async () => {
    const { stdout } = await runUsersCommand(['show', user.id], env);
    expect(stdout.match(/\w+(?= +A phone$)/gm)?.toSorted()).toEqual(['browser', 'device', 'none']);
    expect(stdout).not.toMatch(/a page|a browser/);
  });

  it('says of waiting mail how often it was tried', async () => {
    const { stdout } = await runUsersCommand(['show', user.id], env);
    expect(stdout).toMatch(/^WAITING MAIL +TO +SINCE +ATTEMPTS\nnew-device .* 3$/m);
    const shown = await runUsersCommand(['show', user.id, '--json'], env);
    expect(JSON.parse(shown.stdout).messages).toMatchObject([{ kind: 'new-device', to: user.email, attempts: 3 }]);
  });

  it('has all events, however many they are', async () => {
    for (const args of [
      ['events', user.id, '--since', '2020-01-01', '--json'],
      ['export', user.id],
    ]) {
      const { code, stdout } = await runUsersCommand(args, env);
      expect([code, JSON.parse(stdout).events.length]).toStrictEqual([0, MANY]);
    }
  });

  it.runIf(existsSync('/dev/full'))('cannot be written to a full disk, which is a failure', async () => {
    const full = ['/bin/sh', '-c', 'exec "$@" >/dev/full', 'sh'];
    const { stderr, outcome } = spawnService(env, full, undefined, ['users', 'export', user.id]);
    expect((await outcome).code).toBe(1);
    expect(stderr).toStrictEqual([expect.stringMatching(/^The output could not be written: ENOSPC/)]);
  });
});

describe('npm run users', () => {
  const directory = temporaryDirectory();
  afterAll(directory.remove);

  it('makes no database where there is none', async () => {
    const env = { DATA_DIR: join(directory.path, 'nothing') };
    const { code, stderr } = await runUsersCommand(['find', 'ada'], env);
    expect(code).toBe(1);
    expect(stderr).toContain('There is no database');
    expect(existsSync(env.DATA_DIR)).toBe(false);
    expect((await runUsersCommand(['find', 'ada'], { DATABASE_URL: 'nonsense' })).code).toBe(2);
  });

  it('says what to do where the tables are missing', async () => {
    const env = { DATA_DIR: join(directory.path, 'older') };
    await (await openDatabase(onSqlite(join(env.DATA_DIR, 'database.sqlite')), { migrate: false })).close();
    const { code, stdout, stderr } = await runUsersCommand(['find', 'ada', '--json'], env);
    expect([code, JSON.parse(stdout).error.code]).toStrictEqual([1, 'migrations-pending']);
    expect(stderr).toMatch(/npx tandem migrate/);
  });

  it('gives no commands to the terminal, whatever it is asked for', async () => {
    for (const args of [
      ['find', '\u001b[2Jada'],
      ['find', '--\u001b[2Jada'],
    ]) {
      const { stdout, stderr } = await runUsersCommand(args, { DATA_DIR: join(directory.path, 'nothing') });
      expect(stdout + stderr).not.toMatch(COMMANDS);
    }
  });

  it('reports invalid arguments to programs, too', async () => {
    const { code, stdout } = await spawnUsersCommand(['find', '--json'], {});
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toStrictEqual({ error: { code: 'arguments', message: 'find needs one USER.' } });
  });
});
