import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Account,
  accountAt,
  type KillableService,
  startKillable,
  type Victim,
} from '../support/processes/killable-service.ts';
import { spawnService } from '../support/processes/process.ts';
import { ask, postJson } from '../support/processes/sessions-under-load.ts';
import { canStartServers } from '../support/servers/of-the-tests.ts';

type Outcome = 'done' | 'not found' | 'failed' | 'cut off';

type Deletion = {
  readonly outcome: Promise<Outcome>;
  /** Kills the process that deletes. */
  readonly kill: () => Promise<unknown>;
  readonly restart: () => Promise<unknown>;
};

const OF_CODES: Readonly<Record<string, Outcome>> = {
  OK: 'done',
  DB_RECORD_NOT_FOUND: 'not found',
  DB_QUERY_FAILED: 'failed',
};

const byRequest = (service: KillableService, { accessToken, password }: Account): Deletion => {
  const request = ask(`${service.url()}/users/me`, {
    method: 'DELETE',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ password }),
  });
  return {
    outcome: request.then(
      ({ code }): Outcome => OF_CODES[code ?? 'OK'] ?? expect.unreachable(code),
      () => 'cut off',
    ),
    kill: () => service.kill('process'),
    restart: () => service.restart('process'),
  };
};

const OF_STATUSES: Readonly<Record<string, Outcome>> = { 0: 'done', 3: 'not found', 1: 'failed', null: 'cut off' };

const byCommand = ({ env }: KillableService, { email }: Account): Deletion => {
  const command = spawnService(env, [], undefined, ['users', 'delete', email, '--yes', '--json']);
  return {
    outcome: command.outcome.then(({ code }) => OF_STATUSES[String(code)] ?? expect.unreachable(String(code))),
    kill: async () => {
      command.child.kill('SIGKILL');
      await command.outcome;
    },
    restart: async () => undefined,
  };
};

/** What a deletion changes, the last one at the end: links and messages follow by foreign keys. */
const TABLES = [
  ...['users', 'events', 'ended_sessions', 'sessions', 'passkeys'],
  ...['recovery_codes', 'remembered_devices', 'outbox'],
];

const WAYS = {
  'DELETE /users/me': { begin: byRequest, tables: TABLES },
  'npm run users -- delete': { begin: byCommand, tables: ['operations', ...TABLES] },
};

describe.runIf(canStartServers())('a deletion that is interrupted', () => {
  let service: KillableService;
  beforeAll(async () => {
    service = await startKillable({ JWT_REFRESH_RACE_WINDOW: '0' });
  });
  afterAll(() => service?.close());

  const refresh = (cookie = '') =>
    ask(`${service.url()}/auth/refresh-token`, { method: 'POST', headers: { Cookie: cookie } });
  const logIn = ({ email: account, password }: Account) =>
    postJson(`${service.url()}/auth/login`, { account, password });

  const someone = async () => {
    const account = await accountAt(service.url());
    await service.untilSent();
    return { account, before: await service.aboutUser(account.id) };
  };
  const assertGone = async ({ id, cookie, ...account }: Account) => {
    expect(await service.aboutUser(id)).toEqual([]);
    expect((await refresh(cookie)).code).toBe('AUTH_FAILED');
    expect((await logIn({ id, cookie, ...account })).code).toBe('AUTH_CREDENTIALS_INVALID');
  };

  describe.each(Object.entries(WAYS))('%s', (_way, { begin, tables }) => {
    it.each<Victim>(['process', 'postgresql'])(
      'can be repeated after the %s was killed before the commit',
      async (victim) => {
        const { account, before } = await someone();
        let deletion: Deletion | undefined;
        const start = () => {
          deletion = begin(service, account);
          return deletion.outcome;
        };
        const strike = () => (victim === 'process' ? deletion?.kill() : service.kill(victim)) ?? expect.unreachable();
        const outcome = await service.interrupt(tables, start, strike);
        expect(outcome).toBe(victim === 'process' ? 'cut off' : 'failed');
        await (victim === 'process' ? deletion?.restart() : service.restart(victim));

        expect(await service.aboutUser(account.id)).toEqual(before);
        expect((await refresh(account.cookie)).status).toBe(200);
        expect((await logIn(account)).status).toBe(200);
        expect(await begin(service, account).outcome).toBe('done');
        await assertGone(account);
        expect(await begin(service, account).outcome).toBe('not found');
      },
    );
  });
});
