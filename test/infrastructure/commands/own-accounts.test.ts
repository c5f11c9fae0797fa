import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { Storage } from '../../../src/application/ports/transactions.ts';
import { manageUsers } from '../../../src/infrastructure/commands/manage-users.ts';
import type { Ask } from '../../../src/infrastructure/commands/users/act.ts';
import { runUsers } from '../../../src/infrastructure/commands/users.ts';
import type { Ports } from '../../../src/infrastructure/compose/ports.ts';
import { aFactor, anEvent, aPasskey, aSession, aUser, NOW } from '../../support/builders.ts';

/** There is no database at this place. */
const ENV = { NODE_ENV: 'test', LOG_LEVEL: 'silent', DATA_DIR: '/nonexistent' };

/** The command over a storage of the caller's own, and what it prints. */
const run = async (args: readonly string[], storage: Storage, given: { ask?: Ask; ports?: Partial<Ports> } = {}) => {
  const { ask = null, ports = {} } = given;
  const [printed, warned]: [string[], string[]] = [[], []];
  const print = async (text: string) => void printed.push(text);
  const terminal = { ask, print, warn: (text: string) => void warned.push(text) };
  const status = await runUsers(args, ENV, terminal, { storage, ports });
  return { status, output: printed.join(''), errors: warned.join('') };
};

const stored = async () => {
  const stores = memoryStorage();
  const user = aUser();
  await stores.users.add(user);
  await stores.sessions.add(aSession({ userId: user.id }));
  await stores.events.add([anEvent({ userId: user.id, kind: 'logged-in' })]);
  return { stores, user };
};

it('users of one’s own are found, shown, changed and deleted, without a database of the service', async () => {
  const { stores, user } = await stored();
  const listed = await run(['events', user.username, '--json'], stores);
  expect(listed).toMatchObject({ status: 0, errors: '' });
  expect(JSON.parse(listed.output).events).toMatchObject([{ kind: 'logged-in' }]);
  expect((await run(['disable', user.email, '--yes'], stores)).output).toMatch(/is disabled; 1 session ended/);
  expect(await stores.users.findById(user.id)).toMatchObject({ disabledAt: expect.any(Number) });
  expect((await run(['events', user.username], stores)).output).toMatch(/disabled/);
  expect((await run(['delete', user.id, '--yes'], stores)).status).toBe(0);
  expect(await stores.users.findById(user.id)).toBeNull();
});

it('a name that is the id of another user is refused, with both of them, and an address is not', async () => {
  const { stores, user } = await stored();
  const other = aUser({ username: user.id.toLowerCase() });
  await stores.users.add(other);
  for (const name of [user.id, other.username]) {
    const { status, output } = await run(['reset-link', name, '--json'], stores);
    expect(status).toBe(2);
    const { error } = JSON.parse(output);
    expect(error.code).toBe('ambiguous');
    expect(error.message).toContain(user.id);
    expect(error.message).toContain(other.id);
  }
  expect(await stores.links.listByUser(user.id, NOW)).toEqual([]);
  expect((await run(['show', other.email], stores)).status).toBe(0);
});

it('the stores of the caller are closed once, also when the command fails', async () => {
  const close = vi.fn();
  expect(await manageUsers(['find', 'nobody'], ENV, { storage: memoryStorage(), close })).toBe(3);
  expect(close).toHaveBeenCalledOnce();
});

describe('the factors of a user', () => {
  const enrolled = async () => {
    const { stores, user } = await stored();
    const { id: userId } = user;
    const app = aFactor({ userId, confirmedAt: NOW });
    const unconfirmed = aFactor({ userId });
    for (const factor of [app, unconfirmed]) await stores.factors.add(factor);
    await stores.factors.replaceCodes(userId, ['a hash', 'another hash', 'one more hash']);
    await stores.passkeys.add(aPasskey({ userId, name: 'A key\u001b[2J', lastUsedAt: NOW }));
    await stores.users.update(userId, { secondFactorAt: NOW, now: NOW });
    const pending = async () => (await stores.outbox.listByUser(userId)).map(({ kind }) => kind);
    return { stores, userId, app, unconfirmed, pending };
  };
  const AT = new Date(NOW).toISOString();

  it('are shown, without an app that has shown no code, and without secrets', async () => {
    const { stores, userId, app, unconfirmed } = await enrolled();
    const { output } = await run(['show', userId], stores);
    expect(output).toMatch(/^recovery codes +3$/m);
    expect(output).toMatch(new RegExp(`^second factor +${AT}$`, 'm'));
    expect(output).toMatch(new RegExp(`^AUTHENTICATOR APP +ADDED\\n${app.id} +${AT}$`, 'm'));
    expect(output).toMatch(new RegExp(`^PASSKEY +ADDED +LAST USED\\nA key\\S+ +${AT} +${AT}$`, 'm'));
    expect(output).not.toMatch(new RegExp(`${unconfirmed.id}|encrypted|hash|\u001b`));
  });

  it('are removed when the question is answered with yes, which says what is removed', async () => {
    const { stores, userId, pending } = await enrolled();
    const questions: string[] = [];
    const answering = (answer: boolean) => ({
      ask: async (question: string) => {
        questions.push(question);
        return answer;
      },
    });
    const { output } = await run(['remove-factors', userId, '--dry-run', '--json'], stores);
    expect(JSON.parse(output)).toEqual({ command: 'remove-factors', userId, dryRun: true, changed: false });
    expect((await run(['remove-factors', userId], stores)).status).toBe(2);
    expect((await run(['remove-factors', userId], stores, answering(false))).status).toBe(1);
    expect([await stores.factors.countCodes(userId), await pending()]).toEqual([3, []]);
    expect((await run(['remove-factors', userId, '--as', 'Una'], stores, answering(true))).status).toBe(0);
    expect(questions).toHaveLength(2);
    for (const question of questions)
      expect(question).toMatch(/1 authenticator app, 3 recovery codes and 1 passkey of /);
    expect(await stores.users.findById(userId)).toMatchObject({ secondFactorAt: null });
    expect(await stores.factors.listByUser(userId)).toEqual([]);
    expect(await stores.passkeys.listByUser(userId)).toEqual([]);
    expect((await pending()).toSorted()).toEqual(['passkey-removed', 'second-factor-removed']);
    const [latest] = await stores.events.list({ userId, before: null, limit: 1 });
    expect(latest).toMatchObject({ actor: 'Una' });
  });

  it('are counted in JSON, and are removed once', async () => {
    const { stores, userId } = await enrolled();
    const remove = async () => JSON.parse((await run(['remove-factors', userId, '--yes', '--json'], stores)).output);
    const removed = { apps: 1, recoveryCodes: 3, passkeys: 1 };
    expect(await remove()).toMatchObject({ changed: true, removed });
    expect(await remove()).toMatchObject({ changed: false, removed: { apps: 0, recoveryCodes: 0, passkeys: 0 } });
  });

  it('are removed without a mail where there is none', async () => {
    const { stores, userId, pending } = await enrolled();
    const { status } = await run(['remove-factors', userId, '--yes'], stores, { ports: { mailer: null } });
    expect([status, await pending()]).toEqual([0, []]);
  });
});

describe('the attributes of a user', () => {
  const ROLES = '{"roles":["admin"],"hiredAt":7}';
  const attributes = { roles: ['admin'], hiredAt: 7 };
  const eventsOf = async ({ stores, user }: Awaited<ReturnType<typeof stored>>) =>
    (await stores.events.list({ userId: user.id, before: null, limit: 10 })).map(({ kind, actor }) => [kind, actor]);

  it('are set once, shown, exported, and removed by {}', async () => {
    const given = await stored();
    const { stores, user } = given;
    const set = (json: string) => run(['set-attributes', user.username, json, '--as', 'Una', '--json'], stores);
    const report = { command: 'set-attributes', userId: user.id, dryRun: false, attributes };
    expect(JSON.parse((await set(ROLES)).output)).toEqual({ ...report, changed: true });
    expect(await stores.users.findById(user.id)).toMatchObject({ attributes, updatedAt: expect.any(Number) });
    expect(JSON.parse((await set(ROLES)).output)).toEqual({ ...report, changed: false });
    expect(await eventsOf(given)).toEqual([
      ['attributes-changed', 'Una'],
      ['logged-in', null],
    ]);
    expect((await run(['show', user.id], stores)).output).toContain(`attributes        ${ROLES}`);
    for (const command of ['show', 'export'])
      expect(JSON.parse((await run([command, user.id, '--json'], stores)).output).user.attributes).toEqual(attributes);
    expect((await set('{}')).status).toBe(0);
    expect((await stores.users.findById(user.id))?.attributes).toEqual({});
    expect(await eventsOf(given)).toHaveLength(3);
    expect((await run(['show', user.id], stores)).output).toMatch(/^attributes +–$/m);
  });

  it('are said to people with the former ones, which the new ones replace, and when tokens have them', async () => {
    const { stores, user } = await stored();
    const dry = await run(['set-attributes', user.id, ROLES, '--dry-run'], stores);
    expect(dry.output).toMatch(
      /^Not done, because of --dry-run: Set the attributes of .* to \{"roles".*\}, in place of \{\}\.$/m,
    );
    expect((await stores.users.findById(user.id))?.attributes).toEqual({});
    await run(['set-attributes', user.id, ROLES], stores);
    const { output } = await run(['set-attributes', user.id, '{"team":"\u202emda"}'], stores);
    expect(output).toMatch(/ has the attributes \{"team":.*\}, in place of \{"roles":\["admin"\],"hiredAt":7\}\. /);
    expect(output).toMatch(/from the next refresh on\.$/m);
    expect(output).not.toContain('\u202e');
  });

  it.each([
    ['no attributes', ['set-attributes', 'ada']],
    ['a text', ['set-attributes', 'ada', 'admin']],
    ['a claim', ['set-attributes', 'ada', '{"sub":"x"}']],
    ['more than 1 KiB', ['set-attributes', 'ada', `{"a":"${'a'.repeat(1_024)}"}`]],
    ['something after them', ['set-attributes', 'ada', '{}', '{}']],
    ['attributes of another command', ['enable', 'ada', '{}']],
  ])('are refused before a user is looked for: %s', async (_what, args) => {
    expect(await run(args, memoryStorage())).toMatchObject({ status: 2, output: '' });
  });
});
