import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import type { SessionRepository } from '../../src/application/ports/session-repository.ts';
import { ADA, application, MINUTE } from '../support/application.ts';
import { holds } from '../support/properties/properties.ts';

/*
 * Requests whose calls to the session store, and their results, arrive in any order. Each run prints the seeds of its properties;
 * `FC_SEED=<seed> vitest run test/properties/interleavings.test.ts` repeats it.
 */

const DEVICES = 2;

type Request = {
  readonly type: 'refresh' | 'log out';
  readonly device: number;
  /** 0 is the token that is current before the first request. */
  readonly age: number;
  /** Whether it times out before it ends. */
  readonly givenUp: boolean;
};

const request: fc.Arbitrary<Request> = fc.record({
  type: fc.constantFrom<Request['type'][]>('refresh', 'refresh', 'refresh', 'refresh', 'log out'),
  device: fc.nat({ max: DEVICES - 1 }),
  age: fc.constantFrom(0, 0, 0, 0, 1, 2),
  givenUp: fc.constantFrom(false, false, true),
});

/** The store; the scheduler decides when each call and each result arrives. */
const behind = (store: SessionRepository, scheduler: fc.Scheduler): SessionRepository => {
  const slow =
    <Given extends unknown[], Answer>(name: string, call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await scheduler.schedule(Promise.resolve(), `${name} arrives`);
      const answer = await call(...given);
      await scheduler.schedule(Promise.resolve(), `${name} is answered`);
      return answer;
    };
  return {
    ...store,
    find: slow('find', store.find),
    rotate: slow('rotate', store.rotate),
    revert: slow('revert', store.revert),
    end: slow('end', store.end),
  };
};

/** Two devices, each with the last three tokens of its session, the current one first. */
const setUp = async () => {
  const app = application();
  const store = app.sessions;
  await app.register(ADA);
  const devices: string[][] = [];
  for (let device = 0; device < DEVICES; device += 1) {
    const tokens = [(await app.login({ account: ADA.username, password: ADA.password })).refreshToken];
    for (let age = 0; age < 2; age += 1) tokens.unshift((await app.refresh([tokens[0] ?? ''])).refreshToken);
    devices.push(tokens);
  }
  // The race window of the rotations so far is over.
  app.clock.advance(MINUTE);
  return { app, store, devices };
};

type World = Awaited<ReturnType<typeof setUp>>;

/** @returns the token that each request returned, or `null`, in their order. */
const send = async ({ app, store, devices }: World, requests: readonly Request[], scheduler: fc.Scheduler) => {
  const { clock, refresh, logout } = application({ ...app, sessions: behind(store, scheduler) });
  clock.set(app.clock.now());
  const sent = requests.map(async ({ type, device, age, givenUp }): Promise<string | null> => {
    const presented = [devices[device]?.[age] ?? ''];
    if (type === 'log out') return logout(presented).then(() => null);
    const cancellation = new AbortController();
    if (givenUp) void scheduler.schedule(Promise.resolve(), 'the request times out').then(() => cancellation.abort());
    return refresh(presented, { cancellation: cancellation.signal }).then(
      ({ refreshToken }) => refreshToken,
      () => null,
    );
  });
  await scheduler.waitIdle();
  return Promise.all(sent);
};

describe('requests that overlap', () => {
  it('leave each session over, or with exactly one token that works: the one that was given out last', async () => {
    const property = fc.asyncProperty(
      fc.array(request, { minLength: 2, maxLength: 7 }),
      fc.scheduler(),
      async (requests, scheduler) => {
        const world = await setUp();
        const answers = await send(world, requests, scheduler);
        for (const [device, tokens] of world.devices.entries()) {
          const [current = ''] = tokens;
          const own = requests.flatMap((each, at) =>
            each.device === device ? [{ ...each, yielded: answers[at] }] : [],
          );
          const yielded = own.flatMap((each) => each.yielded ?? []);
          expect(yielded.length, 'one token worked more than once').toBeLessThanOrEqual(1);
          expect(
            own.filter((each) => each.yielded && each.age > 0),
            'a rotated token worked',
          ).toEqual([]);

          const works = await tokensThatWork(world, [...tokens, ...yielded]);
          const mayEnd = own.filter(({ type, age }) => type === 'log out' || age > 0);
          if (mayEnd.some(({ type, givenUp }) => type === 'log out' || !givenUp)) {
            expect(works, 'a session came back').toEqual([]);
          } else if (works.length > 0 || mayEnd.length === 0) {
            expect(works).toEqual([yielded[0] ?? current]);
          }
        }
      },
    );
    await holds(property, { numRuns: 2_000 });
  });
});

/** The tokens of one session with which a refresh would succeed now; each is tried on a copy of the session. */
const tokensThatWork = async ({ app, store }: World, tokens: readonly string[]): Promise<string[]> => {
  const working: string[] = [];
  for (const token of tokens) {
    const verified = await app.tokens.verifyRefresh(token, app.clock.now());
    const session = verified.ok
      ? await store.find({ id: verified.token.sessionId, userId: verified.token.claims.sub })
      : null;
    const copy = memoryStorage();
    const user = await app.users.findByUsername(ADA.username);
    if (user !== null) await copy.users.add(user);
    if (session !== null) await copy.sessions.add(session);
    const { clock, refresh } = application({ ...app, ...copy });
    clock.set(app.clock.now());
    await refresh([token]).then(
      () => working.push(token),
      () => undefined,
    );
  }
  return working;
};
