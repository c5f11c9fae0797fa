import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { openDatabase } from '../../src/adapters/mikro-orm/open-database.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { signUp } from '../support/http/auth-http.ts';
import { cookiePair, hasher, startService, type TestService } from '../support/http/service.ts';
import { runHere } from '../support/processes/commands.ts';
import { LONG_TIMEOUTS } from '../support/processes/service-on-postgres.ts';
import { postgresOfTheTests } from '../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql } from '../support/storage/databases.ts';

const STEP = 30_000;
const OLD = Buffer.alloc(32, 1).toString('base64url');

/** Two instances, whose variables are set one after the other. */
describe.runIf(postgresOfTheTests() !== undefined)('the key of authenticator apps', () => {
  const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
  const instances: (TestService | undefined)[] = [];
  const users: { readonly person: { username: string; password: string }; readonly secret: string }[] = [];
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    database = await createDatabase(postgresOfTheTests() ?? '');
    await (await openDatabase(onPostgresql(database.url), { migrate: true })).close();
  });
  afterAll(async () => {
    for (const instance of instances) await instance?.close();
    await database.drop();
  });

  const envWith = (keys: string) => ({ ...LONG_TIMEOUTS, DATABASE_URL: database.url, FACTOR_KEYS: keys });
  const restart = async (index: number, keys: string) => {
    await instances[index]?.close();
    const attempts = countAttempts(memoryCounts({ now: clock.now }), clock);
    instances[index] = await startService(envWith(keys), {
      clock,
      attempts,
      hasher,
    });
  };
  const at = (index: number) => instances[index] ?? expect.unreachable('the instance does not run');

  const enrolAt = async (index: number) => {
    const { person, accessToken } = await signUp(at(index));
    const post = (path: string, body: object) =>
      at(index).http.post(path).set('Authorization', `Bearer ${accessToken}`).send(body);
    const { id, secret } = (await post('/users/me/factors/totp', {}).expect(201)).body.data;
    await post('/users/me/factors/totp/confirm', { id, code: codeAt(secret, clock.now()) }).expect(200);
    users.push({ person, secret });
  };
  const logInAt = async (index: number, { person, secret }: (typeof users)[number]): Promise<number> => {
    const { http } = at(index);
    const login = await http.post('/auth/login').send({ account: person.username, password: person.password });
    const pending = cookiePair(login.get('Set-Cookie')?.[0]);
    const code = codeAt(secret, clock.now());
    return (await http.post('/auth/login/second-factor').set('Cookie', pending).send({ code })).status;
  };
  /** At both instances, with a code for each. */
  const everybodyLogsIn = async (when: string) => {
    for (const index of [0, 1]) {
      clock.advance(STEP);
      const statuses = await Promise.all(users.map((user) => logInAt(index, user)));
      expect([when, index, ...statuses]).toEqual([when, index, ...users.map(() => 200)]);
    }
  };
  const run = async (keys: string, ...args: string[]) =>
    (await runHere(['keys', 'factors', ...args], envWith(keys))).stdout;

  it('is replaced in the printed steps, and everybody logs in with codes at every instance throughout', async () => {
    const printed = (await run(OLD)).split(/^# step-\d\.env$/m).slice(1);
    const lists = printed.map((step) => parseEnv(step).FACTOR_KEYS ?? '');
    const [, switched = '', retired = ''] = lists;
    for (const index of [0, 1]) await restart(index, OLD);
    await enrolAt(0);
    for (const [step, keys] of lists.entries())
      for (const index of [1, 0]) {
        await restart(index, keys);
        // The other instance has the list of the step before until it is restarted, too.
        await enrolAt(index);
        await enrolAt(1 - index);
        await everybodyLogsIn(`step ${step + 1}, instance ${index}`);
        if (keys !== switched) continue;
        const [text] = await Promise.all([run(keys, '--re-encrypt'), everybodyLogsIn('while secrets are encrypted')]);
        expect(text).toContain(' 0 cannot be decrypted');
        await everybodyLogsIn('after secrets were encrypted');
      }
    expect(await run(retired, '--re-encrypt')).toMatch(
      new RegExp(` 0 are .* ${users.length} were before, 0 cannot be decrypted`),
    );
  });
});
