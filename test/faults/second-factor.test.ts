import { randomBytes } from 'node:crypto';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/adapters/mikro-orm/open-database.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { heldFrom } from '../support/http/auth-http.ts';
import { aPerson, cookiePair, hasher, startService } from '../support/http/service.ts';
import { documentedHttp, type Http } from '../support/openapi/documented-http.ts';
import {
  type KillableService,
  LONG_TIMEOUTS,
  startKillable,
  type Victim,
} from '../support/processes/killable-service.ts';
import { untilReady } from '../support/processes/while-shared.ts';
import { canStartServers, postgresOfTheTests, startRedis } from '../support/servers/of-the-tests.ts';
import { openPostgresLine } from '../support/servers/postgres-line.ts';
import type { TestServer } from '../support/servers/server.ts';
import { createDatabase, onPostgresql } from '../support/storage/databases.ts';

const STEP = 30_000;
/** What is not sent changes no row meanwhile. */
const NO_MAIL = { EMAIL_VERIFICATION: 'off', MAIL_NOTICES: 'off' };

/** A user with an authenticator app, whose next code is of the step after the one that has confirmed it. */
const enrolledAt = async (http: Http) => {
  const person = aPerson();
  const registered = await http.post('/auth/register').send(person).expect(201);
  const { accessToken, cookie } = heldFrom(registered);
  const me = { Authorization: `Bearer ${accessToken}` };
  const { id, secret } = (await http.post('/users/me/factors/totp').set(me).expect(201)).body.data;
  const confirmation = { id, code: codeAt(secret, Date.now()) };
  const { body } = await http.post('/users/me/factors/totp/confirm').set(me).send(confirmation).expect(200);
  const recoveryCodes: readonly string[] = body.data.recoveryCodes;
  return {
    ...person,
    id: String(registered.body.data.user.id),
    cookie,
    nextCode: () => ({ code: codeAt(secret, Date.now() + STEP) }),
    recoveryCode: (index: number) => ({ recoveryCode: recoveryCodes[index] }),
  };
};

type Person = { readonly username: string; readonly password: string };

/** The cookie of a log-in that waits for the second factor. */
const pendingAt = async (http: Http, { username: account, password }: Person): Promise<string> => {
  const response = await http.post('/auth/login').send({ account, password }).expect(401);
  expect(response.body.code).toBe('AUTH_SECOND_FACTOR_REQUIRED');
  return cookiePair(response.get('Set-Cookie')?.[0]);
};
const showAt = (http: Http, pending: string, factor: object) =>
  http.post('/auth/login/second-factor').set('Cookie', pending).send(factor);
const refreshAt = (http: Http, cookie: string) => http.post('/auth/refresh-token').set('Cookie', cookie);

/** What an answer opens: nothing, if it is an error of the catalog without a cookie. */
const outcomeOf = ({ status, body, headers }: Response) =>
  status === 200 ? 'opened' : `${status} ${body.code}${headers['set-cookie'] === undefined ? '' : ' with a cookie'}`;

const USED = '401 AUTH_SECOND_FACTOR_INVALID';

describe.runIf(canStartServers())('a log-in that waits for the second factor', () => {
  let redis: TestServer;
  let service: KillableService;
  beforeAll(async () => {
    redis = await startRedis();
    service = await startKillable({ ...NO_MAIL, REDIS_URL: redis.url, JWT_REFRESH_RACE_WINDOW: '0' });
  });
  afterAll(async () => {
    await service?.close();
    await redis?.stop();
  });

  const http = () => documentedHttp(service.url());
  const sessionsOf = async (id: string): Promise<number> =>
    (await service.query('select id from sessions where user_id = ?', [id])).length;

  type Outage = {
    readonly kill: () => Promise<unknown>;
    readonly restart: () => Promise<unknown>;
    /** What the right code is answered meanwhile. */
    readonly meanwhile: string;
  };
  const OUTAGES: Readonly<Record<string, Outage>> = {
    process: { kill: () => service.kill('process'), restart: () => service.restart('process'), meanwhile: 'nobody' },
    PostgreSQL: {
      kill: () => service.kill('postgresql'),
      restart: () => service.restart('postgresql'),
      meanwhile: '500 DB_QUERY_FAILED',
    },
    Redis: {
      kill: () => redis.kill(),
      restart: async () => {
        await redis.restart();
        await untilReady({ url: service.url() });
      },
      meanwhile: 'opened',
    },
  };

  it.each(Object.entries(OUTAGES))('outlives that the %s is killed', async (_what, { kill, restart, meanwhile }) => {
    const ada = await enrolledAt(http());
    const [pending, other] = [await pendingAt(http(), ada), await pendingAt(http(), ada)];
    const before = await sessionsOf(ada.id);
    await kill();
    const answer = await showAt(http(), other, ada.recoveryCode(0)).then(outcomeOf, () => 'nobody');
    expect(answer).toBe(meanwhile);
    await restart();

    const opened = answer === 'opened' ? 1 : 0;
    expect(await sessionsOf(ada.id)).toBe(before + opened);
    const { body } = await http().get('/auth/login/pending').set('Cookie', pending).expect(200);
    expect(body.data.methods).toEqual(['totp', 'recovery-code']);
    const finished = await showAt(http(), pending, ada.nextCode()).expect(200);
    expect(await sessionsOf(ada.id)).toBe(before + opened + 1);
    for (const cookie of [ada.cookie, heldFrom(finished).cookie]) await refreshAt(http(), cookie).expect(200);
    // What was refused without a session was not used up, and what opened one was.
    const again = await showAt(http(), await pendingAt(http(), ada), ada.recoveryCode(0));
    expect(outcomeOf(again)).toBe(opened === 0 ? 'opened' : USED);
    expect(outcomeOf(await showAt(http(), pending, ada.recoveryCode(1)))).toBe(USED);
  });

  it.each<Victim>(['process', 'postgresql'])(
    'can be finished again after the %s was killed before the commit',
    async (victim) => {
      const ada = await enrolledAt(http());
      const pending = await pendingAt(http(), ada);
      const before = await service.aboutUser(ada.id);
      const show = () => showAt(http(), pending, ada.nextCode()).then(outcomeOf);
      const tables = ['used_values', 'sessions', 'events'];
      const answer = await service.interrupt(tables, show, () => service.kill(victim));
      expect(answer).toBe(victim === 'postgresql' ? '500 DB_QUERY_FAILED' : null);
      await service.restart(victim);

      expect(await service.aboutUser(ada.id)).toEqual(before);
      await refreshAt(http(), ada.cookie).expect(200);
      expect(await show()).toBe('opened');
      expect(await show()).toBe(USED);
    },
  );
});

describe.runIf(canStartServers())('a second factor whose commit loses its connection', () => {
  const aService = async () => {
    const { url, drop } = await createDatabase(postgresOfTheTests() ?? '');
    onTestFinished(drop);
    await (await openDatabase(onPostgresql(url), { migrate: true })).close();
    const line = await openPostgresLine(url);
    onTestFinished(line.close);
    const FACTOR_KEYS = randomBytes(32).toString('base64url');
    const env = { ...LONG_TIMEOUTS, FACTOR_KEYS, ...NO_MAIL, DATABASE_URL: line.url };
    const service = await startService(env, { hasher });
    onTestFinished(service.close);
    return { line, service };
  };

  it.each([
    ['before', 'opens no session, and can be repeated'],
    ['after', 'has opened one session, and is used up'],
  ] as const)('%s the server has executed it %s', async (when, _what) => {
    const { line, service } = await aService();
    const { http } = service;
    const ada = await enrolledAt(http);
    const sessions = async () => (await service.ports.sessions.listByUser(ada.id, Date.now())).length;
    const pending = await pendingAt(http, ada);
    const before = await sessions();
    line.cutAt({ statement: 'commit', when });
    expect(outcomeOf(await showAt(http, pending, ada.recoveryCode(0)))).toBe('500 DB_QUERY_FAILED');
    line.cutAt(null);

    const isKept = when === 'after';
    await expect.poll(sessions).toBe(isKept ? before + 1 : before);
    expect(outcomeOf(await showAt(http, pending, ada.recoveryCode(0)))).toBe(isKept ? USED : 'opened');
    const next = await pendingAt(http, ada);
    expect(outcomeOf(await showAt(http, next, ada.recoveryCode(0)))).toBe(USED);
    expect(outcomeOf(await showAt(http, next, ada.nextCode()))).toBe('opened');
    await refreshAt(http, ada.cookie).expect(200);
  });
});
