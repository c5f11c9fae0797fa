// Proves ASVS 7.4.5
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heldFrom } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { runHere, runThere } from '../support/processes/commands.ts';
import { PRODUCTION } from '../support/processes/environments.ts';
import { canShare, clockAhead } from '../support/processes/instances.ts';
import { type RunningService, runService } from '../support/processes/process.ts';

import { postgresOfTheTests, redisOfTheTests } from '../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql } from '../support/storage/databases.ts';
import { openDatabase } from '../support/storage/open-database.ts';
import { takeRedisDatabase } from '../support/storage/redis-databases.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const COMMANDS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

describe.runIf(canShare())('npm run users beside two instances', () => {
  const running: RunningService[] = [];
  const cleanups: (() => Promise<unknown>)[] = [];
  let env: Record<string, string> = {};
  beforeAll(async () => {
    const database = await createDatabase(postgresOfTheTests() ?? '');
    cleanups.push(database.drop);
    const redis = await takeRedisDatabase(redisOfTheTests() ?? '');
    cleanups.push(redis.empty);
    env = {
      ...PRODUCTION,
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      RATE_LIMITS: 'off',
      // However slow the machine is, nothing is too late; only a hang is.
      REQUEST_TIMEOUT_MS: '600000',
    };
    for (let instance = 0; instance < 2; instance += 1) running.push(await runService(env));
  });
  afterAll(async () => {
    for (const { stop } of running) await stop('SIGKILL');
    for (const clean of cleanups.toReversed()) await clean();
  });

  const at = (index: number) => documentedHttp(running[index % 2]?.url ?? '');
  const report = async (...args: string[]) => {
    const { status, stdout } = await runHere(['users', ...args, '--json'], env);
    return { status, ...JSON.parse(stdout) };
  };

  it('on a machine whose clock is a month ahead: shows what is live by the clock of the database', async () => {
    const person = aPerson();
    await at(0).post('/auth/register').send(person).expect(201);
    const month = 31 * 86_400_000;
    const { status, stdout } = await runThere(['users', 'show', person.username, '--json'], {
      ...env,
      ...clockAhead(month),
    });
    expect({ status, sessions: JSON.parse(stdout).sessions.length }).toEqual({ status: 0, sessions: 1 });
  });

  it('disables an account while it logs in and refreshes on both: no session is left', async () => {
    const person = aPerson();
    const login = { account: person.email, password: person.password };
    const first = heldFrom(await at(0).post('/auth/register').send(person).expect(201));
    const held = [first];
    let isDone = false;
    /** Logs in and refreshes until the command has ended and a log-in was refused. */
    const keepLoggingIn = async (index: number): Promise<void> => {
      const loggedIn = await at(index).post('/auth/login').send(login);
      if (loggedIn.status === 403 && isDone) return;
      if (loggedIn.status === 200) {
        const opened = heldFrom(loggedIn);
        const refreshed = await at(index + 1)
          .post('/auth/refresh-token')
          .set('Cookie', opened.cookie);
        expect([200, 401]).toContain(refreshed.status);
        held.push(refreshed.status === 200 ? heldFrom(refreshed) : opened);
      } else expect(loggedIn.status).toBe(403);
      return keepLoggingIn(index);
    };
    const crowd = Promise.all([0, 1, 2, 3].map(keepLoggingIn));
    expect(await report('disable', person.email, '--yes')).toMatchObject({ status: 0, changed: true });
    isDone = true;
    await crowd;

    expect((await report('show', person.email)).sessions).toStrictEqual([]);
    expect(await report('enable', person.email)).toMatchObject({ status: 0, changed: true });
    for (const { cookie } of held) await at(0).post('/auth/refresh-token').set('Cookie', cookie).expect(401);
    const { events } = await report('events', person.email, '--since', '2020-01-01');
    const of = (kind: string) => events.filter((event: { kind: string }) => event.kind === kind);
    const opened: { sessionId: string; count: number }[] = [...of('registered'), ...of('logged-in')];
    const ended = of('session-ended').map(({ sessionId }: { sessionId: string }) => sessionId);
    // Log-ins on one device are one event, which has the last session.
    expect(ended).toHaveLength(opened.reduce((sum, { count }) => sum + count, 0));
    expect(new Set(ended).size).toBe(ended.length);
    expect(ended).toEqual(expect.arrayContaining(opened.map(({ sessionId }) => sessionId)));
  });

  it('unlocks an account after wrong passwords, which the instances have counted in Redis', async () => {
    const person = aPerson();
    await at(0).post('/auth/register').send(person).expect(201);
    const guessed = async (times: number) => {
      const guess = { account: person.email, password: 'a wrong guess' };
      const guesses = Array.from({ length: times }, (_none, index) => at(index).post('/auth/login').send(guess));
      return new Set((await Promise.all(guesses)).map(({ status }) => status));
    };
    expect(await guessed(60)).toEqual(new Set([401, 429]));
    expect(await report('unlock', person.email)).toMatchObject({ status: 0, changed: true });
    expect(await guessed(50)).toEqual(new Set([401]));
  });

  it('deletes an account with its sessions, and shows hostile texts without control characters', async () => {
    const person = aPerson();
    const { cookie } = heldFrom(await at(0).post('/auth/register').send(person).expect(201));
    const { em, close } = await openDatabase(onPostgresql(env.DATABASE_URL ?? ''), { migrate: false });
    // Neither can be registered: an import may have brought them.
    await em.execute('update users set username = ? where email = ?', ['\u001b[2J\u202eada', person.email]);
    await em.execute('update events set user_agent = ?', ['\u009b31m\u0007\nphone']);
    await close();
    for (const command of ['find', 'show', 'events', 'export']) {
      for (const form of [[], ['--json']]) {
        const { status, stdout, stderr } = await runHere(['users', command, person.email, ...form], env);
        expect(status).toBe(0);
        expect(stdout + stderr).not.toMatch(COMMANDS);
      }
    }
    expect(await report('delete', person.email, '--yes')).toMatchObject({ status: 0, changed: true });
    await at(1).post('/auth/refresh-token').set('Cookie', cookie).expect(401);
    expect((await report('find', person.email)).status).toBe(3);
  });
});
