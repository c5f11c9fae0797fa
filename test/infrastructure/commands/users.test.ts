// Proves ASVS 6.4.6, 7.4.5; theft-3, operator-9

import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { describe, expect, it, vi } from 'vitest';
import { memoryCounts } from '../../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../../src/adapters/limits/login-attempts.ts';
import { openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { Ports } from '../../../src/application/service.ts';
import { linksOf, storeRecoveryCodes } from '../../../src/application/storage/credentials.ts';
import { eventsOf as storedEvents } from '../../../src/application/storage/events.ts';
import { addMessages, claimMessages } from '../../../src/application/storage/outbox.ts';
import type { Terminal } from '../../../src/infrastructure/commands/terminal.ts';
import { users } from '../../../src/infrastructure/commands/users.ts';
import { aFactor, aMessage, anEvent, anIdentity, aPasskey, aSession, aUser, NOW } from '../../support/builders.ts';
import { runHere } from '../../support/processes/commands.ts';
import { freePort } from '../../support/servers/free-port.ts';
import { onSqlite } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';
import { storeEvents } from '../../support/stored-events.ts';

/** There is no database at this place. */
const NOWHERE = { DATA_DIR: '/nonexistent' };
const AT = new Date(NOW).toISOString();
const MINUTE = 60_000;
/** Characters that a terminal takes for commands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const COMMANDS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

/** The command over stores of a caller's own. */
const stored = async () => {
  const stores = memoryStorage();
  const user = aUser();
  await stores.users.add(user);
  await stores.sessions.add(aSession({ userId: user.id }));
  await storeEvents(stores, [anEvent({ userId: user.id, kind: 'logged-in' })]);
  type Given = { ask?: Terminal['ask']; ports?: Partial<Ports> };
  const run = (args: readonly string[], { ask = null, ports = {} }: Given = {}) =>
    runHere(['users', ...args], NOWHERE, { command: users({ storage: stores, ports }), ask });
  const report = async (...args: string[]) => {
    const { status, stdout } = await run([...args, '--json']);
    return { status, ...JSON.parse(stdout) };
  };
  const eventsOf = async () =>
    (await storedEvents(stores.records, { userId: user.id, before: null, limit: 10 })).map(({ kind, actor }) => [
      kind,
      actor,
    ]);
  return { stores, user, run, report, eventsOf };
};

describe('npm run users', () => {
  it('finds a user by username, email address and id, in any letter case', async () => {
    const { user, run, report } = await stored();
    for (const name of [user.username.toUpperCase(), user.email.toUpperCase(), user.id, user.id.toLowerCase()])
      expect(await report('find', name)).toMatchObject({ status: 0, user: { id: user.id, disabledAt: null } });
    expect(await report('find', 'nobody')).toMatchObject({ status: 3, error: { code: 'not-found' } });
    expect((await run(['find', user.email])).stdout.split('\n')).toStrictEqual([
      expect.stringMatching(/^ID +USERNAME +EMAIL +REGISTERED +STATE$/),
      expect.stringMatching(new RegExp(`^${user.id}  ${user.username}  ${user.email}  \\S+  enabled$`)),
      '',
    ]);
  });

  it('refuses a name that is the id of another user, with both of them, and not an address', async () => {
    const { stores, user, run, report } = await stored();
    const other = aUser({ username: user.id.toLowerCase() });
    await stores.users.add(other);
    for (const name of [user.id, other.username]) {
      const { status, error } = await report('reset-link', name);
      expect({ status, code: error.code }).toEqual({ status: 2, code: 'ambiguous' });
      for (const { id } of [user, other]) expect(error.message).toContain(id);
    }
    expect(await linksOf(stores.records, user.id, NOW)).toEqual([]);
    expect((await run(['show', other.email])).status).toBe(0);
  });

  it('asks before what cannot be undone, and changes nothing without an answer or in a dry run', async () => {
    const { user, report, eventsOf } = await stored();
    for (const command of ['disable', 'end-sessions', 'remove-factors', 'delete']) {
      expect(await report(command, user.email)).toMatchObject({ status: 2, error: { code: 'not-confirmed' } });
      const about = { status: 0, command, userId: user.id, dryRun: true, changed: false };
      expect(await report(command, user.email, '--dry-run')).toEqual(about);
    }
    expect(await eventsOf()).toEqual([['logged-in', null]]);
  });

  it('disables and enables an account, ends its sessions, and records who did it', async () => {
    const { user, run, report } = await stored();
    const by = ['--yes', '--as', 'Una', '--reason'];
    for (const refused of [' ', 'two\nlines', 'x'.repeat(201)])
      expect(await report('disable', user.email, ...by, refused)).toMatchObject({ status: 2 });
    const disabled = await report('disable', user.email, ...by, 'stolen laptop');
    expect(disabled).toMatchObject({ status: 0, dryRun: false, changed: true, endedSessions: 1 });
    for (const dry of [[], ['--dry-run']])
      expect(await report('reset-link', user.email, ...dry)).toMatchObject({ status: 1, error: { code: 'disabled' } });
    expect(await report('enable', user.email)).toMatchObject({ status: 0, changed: true });
    expect((await report('events', user.email)).events.slice(0, 3)).toMatchObject([
      { kind: 'enabled', requestId: null, address: null, actor: userInfo().username },
      { kind: 'session-ended', reason: 'operator', note: 'stolen laptop', actor: 'Una' },
      { kind: 'disabled', note: 'stolen laptop', actor: 'Una' },
    ]);
    expect((await run(['events', user.email])).stdout).toMatch(/session-ended +operator: stolen laptop +Una /);
    // A user does not learn which operator it was.
    expect(JSON.parse((await run(['export', user.email])).stdout).events[0].actor).toBe('operator');
  });

  it('prints a link to hand over only if the environment allows it', async () => {
    const { stores, user } = await stored();
    const handOver = (env: object) =>
      runHere(
        ['users', 'reset-link', user.email, '--hand-over'],
        { ...NOWHERE, ...env },
        { command: users({ storage: stores }) },
      );
    const { status, stdout, stderr } = await handOver({});
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('handOver needs RESET_LINK_HAND_OVER=on.');
    expect(await linksOf(stores.records, user.id, NOW)).toEqual([]);
    expect((await handOver({ RESET_LINK_HAND_OVER: 'on' })).stdout).toContain('/password-reset#token=');
  });

  it('says to people what it has done', async () => {
    const { user, run } = await stored();
    expect((await run(['end-sessions', user.email, '--yes'])).stdout).toMatch(
      /^Done: End all sessions of a user: .*\.\nendedSessions: 1\n$/,
    );
  });

  it('lists, searches and counts users', async () => {
    const { stores, user, run, report } = await stored();
    const ada = aUser({ email: 'ada@lovelace.example' });
    await stores.users.add(ada);
    const ids = async (...args: string[]) =>
      (await report('list', ...args)).users.map(({ id }: { readonly id: string }) => id);
    expect(await ids('--newest')).toEqual([ada.id, user.id]);
    expect(await ids('--contains', 'LOVE')).toEqual([ada.id]);
    expect(await ids('--after', user.id)).toEqual([ada.id]);
    const { stdout } = await run(['list', '--limit', '1']);
    expect(stdout).toMatch(/^ID +USERNAME .*\n.*\nThere are more: --after (\w+)\n$/);
    expect((await run(['list', '--contains', 'nobody'])).stdout).toBe('No users.\n');
    expect((await run(['count'])).stdout).toBe('2\n');
  });

  it('creates an account, corrects its address, and unlinks an identity', async () => {
    const { stores, run, report } = await stored();
    const create = (...args: string[]) => report('create', 'Jo@Example.org', ...args);
    expect(await create('--dry-run')).toMatchObject({ status: 0, changed: false });
    expect(await create('--username', 'a b c')).toMatchObject({ status: 2 });
    const { user } = await create('--username', 'Jo.X', '--attributes', '{"team":"x"}');
    expect(user).toMatchObject({ username: 'Jo.X', email: 'jo@example.org', attributes: { team: 'x' } });
    expect(await create()).toMatchObject({ status: 1, error: { code: 'registered' } });
    expect((await run(['set-email', 'jo.x', 'jo@new.example'])).stdout).toMatch(/^Done: .*A link is sent by mail\.$/ms);
    expect(await report('set-email', 'jo.x', 'jo@bücher.example', '--proven')).toMatchObject({ changed: true });
    expect(await report('find', 'jo@BÜCHER.example')).toMatchObject({ user: { email: 'jo@xn--bcher-kva.example' } });
    const { stdout } = await run(['set-email', 'jo.x', 'jo@new.example', '--final', '--dry-run']);
    expect(stdout).toContain('jo@new.example, --final (0 sessions');
    await stores.records.insert('identities', anIdentity({ userId: user.id, provider: 'acme' }));
    expect(await report('unlink', 'jo.x', 'other')).toMatchObject({ status: 3 });
    expect((await run(['unlink', 'jo.x', 'acme'])).stdout).toMatch(/^Done: Remove an identity .*: Jo\.X .*, acme\.$/m);
  });

  it('unlocks an account where wrong passwords are counted for all instances, and not where each counts for itself', async () => {
    const { user, run, report } = await stored();
    expect(await report('unlock', user.email)).toMatchObject({ status: 1, error: { code: 'in-process' } });
    const attempts = countAttempts(memoryCounts(), { now: () => NOW });
    expect((await run(['unlock', user.email], { ports: { attempts } })).stdout).toMatch(/^Done: /);
  });

  it('says that it has unlocked nothing while Redis does not answer', async () => {
    const { stores, user, eventsOf } = await stored();
    const environment = { DATA_DIR: temporaryDirectory().path, REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
    const command = users({ storage: stores });
    const { status, stdout } = await runHere(['users', 'unlock', user.email, '--json'], environment, { command });
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 1, error: { code: 'redis' } });
    expect((await eventsOf()).flat()).not.toContain('unlocked');
  });

  it('ends the sessions of all users with a reason', async () => {
    const { stores, user, run, report } = await stored();
    const end = ['end-sessions', '--all', '--reason', 'a leak'];
    for (const wrong of [['end-sessions'], ['end-sessions', '--all', '--yes'], ['end-sessions', user.email, '--all']])
      expect(await report(...wrong)).toMatchObject({ status: 2 });
    expect(await report(...end)).toMatchObject({ status: 2, error: { code: 'not-confirmed' } });
    expect((await run([...end, '--dry-run'])).stdout).toMatch(/^Not done, .*: End the sessions of all users/);
    expect(await stores.sessions.listByUser(user.id, NOW)).toHaveLength(1);
    const { stdout } = await run([...end, '--yes', '--as', 'Una']);
    expect(stdout).toBe('Done: End the sessions of all users, which are removed in the background.\n');
    expect(await stores.records.list('massEndings', { order: ['id'] })).toMatchObject([
      { note: 'a leak', actor: 'Una' },
    ]);
  });

  it('exports everything without secrets', async () => {
    const { user, run, report } = await stored();
    const { stdout } = await run(['export', user.email]);
    const { sessions } = await report('show', user.email);
    expect(JSON.parse(stdout)).toMatchObject({ user: { email: user.email }, sessions, events: [{}] });
    expect(stdout).not.toMatch(/hash|\$2[aby]\$|currentTokenId/i);
  });

  it('shows how each session is bound, what is linked at providers, and how often waiting mail was tried', async () => {
    const { stores, user, run, report } = await stored();
    for (const keys of [{ deviceKey: 'a page' }, { deviceKey: 'a page', browserKey: 'a browser' }])
      await stores.sessions.add(aSession({ userId: user.id, userAgent: 'A phone', ...keys }));
    await addMessages(stores, [aMessage({ kind: 'new-device', userId: user.id, to: user.email, attempts: 3 })]);
    const identity = anIdentity({ userId: user.id, email: 'ada@provider.example' });
    await stores.records.insert('identities', identity);
    const { stdout } = await run(['show', user.id]);
    expect(stdout).toMatch(/^SESSION +OPENED +LAST USED +ADDRESS +BOUND +DEVICE$/m);
    expect(stdout.match(/\w+(?= +A phone$)/gm)?.toSorted()).toEqual(['browser', 'device']);
    const { provider, subject, email } = identity;
    expect(stdout).toMatch(new RegExp(`^IDENTITY .*\\n${provider} +${subject} +${email} `, 'm'));
    expect(stdout).toMatch(/^WAITING MAIL +TO +SINCE +ATTEMPTS\nnew-device .* 3$/m);
    expect(stdout).not.toMatch(/a page|a browser/);
    expect((await report('show', user.id)).messages).toMatchObject([{ to: user.email, attempts: 3 }]);
  });

  it.each([
    [['find', ' ']],
    [['list', '--limit', '0']],
    [['list', '--after', 'ada']],
    [['events', 'ada', '--since', '2026-02-30T10:00']],
    [['events', 'ada', '--as', 'Una']],
    [['events', 'ada', '--since', '2026-11-22T10:02', '--until', '2026-11-22T10:01']],
    [['show', 'ada', '--dry-run']],
    [['disable', 'ada', '--as', ' ']],
    [['disable', 'ada', '--as', 'U\u202ena']],
    [['set-attributes', 'ada', '{"roles":admin}']],
    [['set-attributes', 'ada', '{"sub":"x"}']],
    [['set-attributes', 'ada', `{"a":"${'a'.repeat(1_024)}"}`]],
    [['enable', 'ada', '{}']],
  ])('refuses the arguments %j before a user is looked for', async (args) => {
    const { status, stdout, stderr } = await runHere(['users', ...args], NOWHERE);
    expect({ status, stdout }).toStrictEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('npx tandem users find USER');
  });

  it('makes no database where there is none, and says what to do where the tables are missing', async () => {
    const directory = temporaryDirectory();
    const find = (env: Readonly<Record<string, string>>) => runHere(['users', 'find', '\u001b[2Jada', '--json'], env);
    const nothing = join(directory.path, 'nothing');
    const none = await find({ DATA_DIR: nothing });
    expect([none.status, JSON.parse(none.stdout).error.code]).toEqual([1, 'no-database']);
    expect((await runHere(['users', 'export', '--all'], { DATA_DIR: nothing })).status).toBe(1);
    expect(existsSync(nothing)).toBe(false);
    expect(none.stdout + none.stderr).not.toMatch(COMMANDS);
    expect((await find({ DATABASE_URL: 'nonsense' })).status).toBe(2);
    await (await openDatabase(onSqlite(join(directory.path, 'database.sqlite')), { migrate: false })).close();
    const { status, stdout, stderr } = await find({ DATA_DIR: directory.path });
    expect([status, JSON.parse(stdout).error.code]).toEqual([1, 'migrations-pending']);
    expect(stderr).toMatch(/npx tandem migrate/);
  });
});

describe('npm run users -- invite', () => {
  it('invites an address, lists it, and takes that back', async () => {
    const { stores, report, run } = await stored();
    const about = { email: 'jo@example.org', attributes: { at: 7 } };
    const given = ['Jo@Example.ORG', '--attributes', '{"at":7}', '--locale', 'DE-at'];
    expect(await report('invite', ...given, '--dry-run')).toMatchObject({ status: 0, dryRun: true, changed: false });
    expect(await report('invite', ...given)).toMatchObject({ status: 0, changed: true, ...about });
    expect((await report('invitations')).invitations).toEqual([
      { ...about, id: expect.any(String), createdAt: expect.any(String), expiresAt: expect.any(String) },
    ]);
    expect((await run(['invitations'])).stdout).toMatch(
      /^ID +EMAIL +INVITED +EXPIRES +ATTRIBUTES\n\S+ +jo@example\.org .* {"at":7}\n$/,
    );
    expect(await claimMessages(stores.records, { now: NOW, until: NOW, limit: 9 })).toMatchObject([
      { locale: 'de-AT' },
    ]);
    const revoked = { status: 0, changed: true, email: about.email };
    expect(await report('revoke-invitation', about.email)).toMatchObject(revoked);
  });

  it('refuses where nobody could register, and where no mail is sent', async () => {
    const { stores } = await stored();
    const refusal = async (env: object, ports = {}) =>
      (
        await runHere(
          ['users', 'invite', 'jo@example.org', '--json'],
          { ...NOWHERE, ...env },
          { command: users({ storage: stores, ports }) },
        )
      ).stdout;
    expect(JSON.parse(await refusal({ REGISTRATION: 'closed' })).error.code).toBe('closed');
    expect(JSON.parse(await refusal({}, { mailer: null })).error.code).toBe('no-mail');
  });
});

describe('npm run users -- events', () => {
  const withEvents = async (count: number) => {
    const given = await stored();
    const { stores, report } = given;
    const user = aUser();
    await stores.users.add(user);
    const times = Array.from({ length: count }, (_, index) => NOW - index * MINUTE);
    await storeEvents(
      stores,
      times.map((at) => anEvent({ userId: user.id, id: ulid(at), at })),
    );
    const listed = async (...range: string[]): Promise<number[]> =>
      (await report('events', user.id, ...range)).events.map(({ at }: { at: string }) => Date.parse(at));
    return { ...given, user, times, listed };
  };
  const iso = (time: number): string => new Date(time).toISOString();

  it('lists those of a range, the latest first, also refused log-ins whose count began before it', async () => {
    const { stores, user, times, listed } = await withEvents(600);
    expect(await listed('--since', '1970-01-01')).toStrictEqual(times);
    const range = ['--since', iso(NOW - 500 * MINUTE), '--until', iso(NOW - 300 * MINUTE)];
    expect(await listed(...range)).toStrictEqual(times.slice(300, 501));
    const begun = ulid(NOW - 30 * MINUTE);
    await storeEvents(stores, [anEvent({ id: begun, userId: user.id, kind: 'login-refused', at: NOW, count: 7 })]);
    expect(await listed('--since', iso(NOW))).toStrictEqual([NOW, NOW]);
  });

  it.each([
    [51, /^TIME .*\n(.*\n){50}These are the latest 50\. For older ones use --since or --until\.\n$/],
    [50, /^TIME .*\n(.*\n){50}$/],
    [0, /^No events\.\n$/],
  ])('without a range lists the latest 50 of %i, and says whether there are older ones', async (count, expected) => {
    const { user, run } = await withEvents(count);
    expect((await run(['events', user.id])).stdout).toMatch(expected);
  });
});

describe('npm run users -- remove-factors', () => {
  const enrolled = async () => {
    const given = await stored();
    const { stores, user } = given;
    const { id: userId } = user;
    const app = aFactor({ userId, confirmedAt: NOW });
    const unconfirmed = aFactor({ userId });
    for (const factor of [app, unconfirmed]) await stores.records.insert('factors', factor);
    await storeRecoveryCodes(stores.records, userId, ['a hash', 'another hash', 'one more hash']);
    await stores.records.insert('passkeys', aPasskey({ userId, name: 'A key\u001b[2J', lastUsedAt: NOW }));
    await stores.users.update(userId, { secondFactorAt: NOW, now: NOW });
    return { ...given, userId, app, unconfirmed };
  };

  it('removes what show has shown, without an app that has shown no code, and without secrets', async () => {
    const { run, userId, app, unconfirmed } = await enrolled();
    const { stdout } = await run(['show', userId]);
    expect(stdout).toMatch(/^recovery codes +3$/m);
    expect(stdout).toMatch(new RegExp(`^second factor +${AT}$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^AUTHENTICATOR APP +ADDED\\n${app.id} +${AT}$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^PASSKEY +ADDED +LAST USED\\nA key\\S+ +${AT} +${AT}$`, 'm'));
    expect(stdout).not.toMatch(new RegExp(`${unconfirmed.id}|encrypted|hash|\u001b`));
  });

  it('removes them when the question is answered with yes, which says what is removed', async () => {
    const { run, userId } = await enrolled();
    const answering = (answer: boolean) => ({ ask: vi.fn(async () => answer) });
    const refused = answering(false);
    expect((await run(['remove-factors', userId], refused)).status).toBe(1);
    const question = expect.stringMatching(/1 authenticator app, 3 recovery codes, 1 passkey, /);
    expect(refused.ask).toHaveBeenCalledWith(question);
    const report = JSON.parse((await run(['remove-factors', userId, '--json'], answering(true))).stdout);
    expect(report).toMatchObject({ changed: true, removed: { apps: 1, recoveryCodes: 3, passkeys: 1 } });
  });
});

describe('npm run users -- set-attributes', () => {
  const ROLES = '{"roles":["admin"],"hiredAt":7}';

  it('says to people which ones they replace, and when tokens have them', async () => {
    const { stores, user, run } = await stored();
    const dry = await run(['set-attributes', user.id, ROLES, '--dry-run']);
    expect(dry.stdout).toMatch(/^Not done, because of --dry-run: State attributes .*, \{"roles".*\} \(.* \{\}\)\.$/m);
    expect((await stores.users.findById(user.id))?.attributes).toEqual({});
    await run(['set-attributes', user.id, ROLES]);
    const again = await run(['set-attributes', user.id, '{"team":"\u202emda"}', '--dry-run']);
    expect(again.stdout).toContain(`attributes ${ROLES})`);
    const { stdout } = await run(['set-attributes', user.id, '{"team":"\u202emda"}']);
    expect(stdout).toMatch(/from the next refresh on\.$/m);
    expect(stdout).not.toContain('\u202e');
  });
});
