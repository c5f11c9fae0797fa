// Proves SPEC 2.8, 2.9, 8.9, 10.5; member-2
import type { Response } from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
import { bcryptPasswordHasher } from '../../src/adapters/crypto/bcrypt.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, opened, refreshWith, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';
import { tally } from '../support/tally.ts';

const CROWD = 50;
/** Milliseconds after which something hangs. */
const HANGING = '600000';
const { start } = servicesOverOneDatabase();
let service: TestService;
beforeAll(async () => {
  // With a fixed clock a race stays a race on a slow machine too.
  service = await start({}, () => ({ clock: fixedClock(Date.UTC(2026, 0, 1, 12)) }));
});

const register = ({ http }: TestService, body: object) => http.post('/auth/register').send(body);

/** Sends 50 requests at once. */
const sendAllAtOnce = (send: (index: number) => PromiseLike<Response>): Promise<Response[]> =>
  Promise.all(Array.from({ length: CROWD }, (_none, index) => send(index)));

const winnerOf = (responses: readonly Response[]): Response => {
  const winner = responses.find(({ body }) => body.success);
  if (winner === undefined) throw new Error('nobody won');
  return winner;
};

describe('fifty registrations at once', () => {
  it('of one username, in any letter case, make one user', async () => {
    // No hash is refused, however long the queue takes.
    const atFullCost = await start({ REQUEST_TIMEOUT_MS: HANGING }, () => ({
      hasher: bcryptPasswordHasher({ maxWait: Number(HANGING) }),
    }));
    const { username } = aPerson();
    const write = (index: number) => (index % 2 === 0 ? username.toUpperCase() : username.toLowerCase());
    const responses = await sendAllAtOnce((index) => register(atFullCost, { ...aPerson(), username: write(index) }));
    expect(tally(responses)).toEqual({ '201': 1, '409 AUTH_USER_DUPLICATE': CROWD - 1 });
    const winner = winnerOf(responses);
    const stored = await service.ports.users.findByUsername(username);
    expect(stored).toMatchObject({ id: winner.body.data.user.id, email: winner.body.data.user.email });
    await refreshWith(service, heldFrom(winner).cookie).expect(200);
  });

  it('of one email, in any letter case, make one user', async () => {
    const { email } = aPerson();
    const write = (index: number) => (index % 2 === 0 ? email.toUpperCase() : email);
    const responses = await sendAllAtOnce((index) => register(service, { ...aPerson(), email: write(index) }));
    expect(tally(responses)).toEqual({ '201': 1, '409 AUTH_USER_DUPLICATE': CROWD - 1 });
    const stored = await service.ports.users.findByEmail(email);
    expect(stored?.username).toBe(winnerOf(responses).body.data.user.username);
  });
});

describe('fifty refreshes at once', () => {
  it('with one token: one wins, and its session lives', async () => {
    const { cookie } = await signUp(service);
    const responses = await sendAllAtOnce(() => refreshWith(service, cookie));
    expect(tally(responses)).toEqual({ '200': 1, '401 AUTH_FAILED': CROWD - 1 });
    expect(responses.filter((response) => response.get('Set-Cookie') !== undefined)).toHaveLength(1);
    const next = heldFrom(await refreshWith(service, heldFrom(winnerOf(responses)).cookie).expect(200));
    await refreshWith(service, next.cookie).expect(200);
  });

  it('with one token and a replay window: all get the same successor', async () => {
    const kind = await start({ JWT_REFRESH_REPLAY_WINDOW: '5m', JWT_REFRESH_RACE_WINDOW: '5m' });
    const { cookie } = await signUp(kind);
    const responses = await sendAllAtOnce(() => refreshWith(kind, cookie));
    expect(tally(responses)).toEqual({ '200': CROWD });
    const tokens = responses.map((response) => opened(tokenIn(heldFrom(response).cookie)).claims.jti);
    expect(new Set(tokens).size).toBe(1);
  });

  it('with the tokens of fifty users: each user gets a token of that user', async () => {
    const people = await Promise.all(Array.from({ length: CROWD }, () => signUp(service)));
    const responses = await sendAllAtOnce((index) => refreshWith(service, people[index]?.cookie ?? ''));
    expect(tally(responses)).toEqual({ '200': CROWD });
    const subjects = responses.map((response) => opened(heldFrom(response).accessToken).claims.sub);
    expect(subjects).toEqual(people.map(({ user }) => user.id));
  });

  it('with a log-out among them: the session ends for the winner too', async () => {
    const { cookie } = await signUp(service);
    const responses = await sendAllAtOnce((index) =>
      index === CROWD / 2 ? service.http.get('/auth/clear-cookie').set('Cookie', cookie) : refreshWith(service, cookie),
    );
    const winners = responses.filter(({ body }) => body.data?.accessToken !== undefined);
    expect(winners.length).toBeLessThanOrEqual(1);
    for (const held of [cookie, ...winners.map((winner) => heldFrom(winner).cookie)]) {
      await refreshWith(service, held).expect(401);
    }
  });
});
