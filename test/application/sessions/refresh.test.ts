// Proves SPEC 8.14, 10.5, 10.7; ASVS 7.1.1, 16.3.3

import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { RefreshToken } from '../../../src/application/ports/token-signer.ts';
import type { Service } from '../../../src/application/service.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { ADA, application, DAY, MINUTE, SECOND, unreliable } from '../../support/application.ts';
import { plainTokenSigner } from '../../support/fakes.ts';
import { atCall } from '../../support/records/at-call.ts';
import { reportsOf } from '../../support/reports.ts';

const REFUSED = { code: 'AUTH_FAILED', status: 401, level: 'info' };
const THEFT = { code: 'AUTH_FAILED', status: 401, level: 'warn' };

const keyOf = ({ sessionId, claims }: RefreshToken) => ({ id: sessionId, userId: claims.sub });

describe('refresh', () => {
  /** A user who has just registered. `open` reads a refresh token of the user. */
  const setUp = async (given: Parameters<typeof application>[0] = {}) => {
    const app = application(given);
    const { user, refreshToken } = await app.register(ADA);
    const open = async (token: string) => {
      const verified = await app.tokens.verifyRefresh(token, app.clock.now());
      return verified.ok ? verified.token : expect.unreachable(verified.reason);
    };
    return { app, user, first: refreshToken, open };
  };

  it('returns a new pair of 15 minutes and 7 days in the same session, with the user as stored now', async () => {
    const { app, user, first, open } = await setUp();
    app.clock.advance(MINUTE);
    const now = app.clock.now();
    await app.users.update(user.id, { username: 'Lovelace', now });
    const { accessToken, refreshToken } = await app.refresh([first]);
    expect(await app.authenticate(accessToken)).toMatchObject({
      ok: true,
      token: {
        claims: { sub: user.id, user: { username: 'Lovelace' }, iat: now / 1000, exp: (now + 15 * MINUTE) / 1000 },
      },
    });
    const [before, after] = [await open(first), await open(refreshToken)];
    expect(after.claims).toMatchObject({ sub: user.id, iat: now / 1000, exp: (now + 7 * DAY) / 1000 });
    expect(after.sessionId).toBe(before.sessionId);
    expect(after.claims.jti).not.toBe(before.claims.jti);
    expect([before.rotation, after.rotation]).toEqual([0, 1]);
  });

  it('refuses a request without a refresh token, and a text that is none, without details', async () => {
    const { app } = await setUp();
    const { accessToken } = await app.login({ account: 'Ada', password: ADA.password });
    await expect(app.refresh([])).rejects.toMatchObject({ ...REFUSED, reason: 'no refresh token' });
    for (const text of ['', 'nonsense', accessToken])
      await expect(app.refresh([text])).rejects.toMatchObject({ ...REFUSED, reason: 'no refresh token verifies' });
  });

  describe('of several tokens in one request', () => {
    it('rotates the first that is current, wherever it is, and ignores the others', async () => {
      const { app, first, open } = await setUp();
      const other = (await app.login({ account: 'Ada', password: ADA.password })).refreshToken;
      const { refreshToken } = await app.refresh(['nonsense', other, first]);
      expect((await open(refreshToken)).sessionId).toBe((await open(other)).sessionId);
      const ended = await app.login({ account: 'Ada', password: ADA.password });
      await app.logout([ended.refreshToken]);
      let token = (await app.refresh([first])).refreshToken;
      app.clock.advance(MINUTE);
      for (const others of [[first], [ended.refreshToken], [ended.refreshToken, first]]) {
        token = (await app.refresh([...others, token])).refreshToken;
        token = (await app.refresh([token, ...others])).refreshToken;
      }
    });

    it('prefers a race to a theft when none is current', async () => {
      const { app, first } = await setUp();
      const second = (await app.refresh([first])).refreshToken;
      app.clock.advance(MINUTE);
      const third = (await app.refresh([second])).refreshToken;
      await expect(app.refresh([first, second])).rejects.toMatchObject(REFUSED);
      expect(await app.refresh([third])).toHaveProperty('accessToken');
    });

    it.each([
      ['current', 'rotated'],
      ['raced', 'raced'],
    ])('ends the session of a reused one, though one of another session is %s', async (which, outcome) => {
      const outcomes: string[] = [];
      const { app, first } = await setUp({ report: reportsOf('refresh', (each) => outcomes.push(each)) });
      const newest = (await app.refresh([first])).refreshToken;
      app.clock.advance(MINUTE);
      const other = (await app.login({ account: 'Ada', password: ADA.password })).refreshToken;
      if (which === 'raced') await app.refresh([other]);
      outcomes.length = 0;
      await app.refresh([first, other]).catch((error) => expect(error).toMatchObject(THEFT));
      expect(outcomes).toEqual(['reused', outcome]);
      await expect(app.refresh([newest])).rejects.toMatchObject(REFUSED);
    });

    it('ends the session of each when all are reused', async () => {
      const { app, first } = await setUp();
      const other = (await app.login({ account: 'Ada', password: ADA.password })).refreshToken;
      const newest = [];
      for (const token of [first, other]) newest.push((await app.refresh([token])).refreshToken);
      app.clock.advance(MINUTE);
      await expect(app.refresh([first, other])).rejects.toMatchObject(THEFT);
      for (const token of newest) await expect(app.refresh([token])).rejects.toMatchObject(REFUSED);
    });
  });

  describe('of a token that was rotated', () => {
    it.each([0, 1, 10 * SECOND])('keeps the session %i ms after the rotation', async (age) => {
      const { app, first } = await setUp();
      const { refreshToken } = await app.refresh([first]);
      app.clock.advance(age);
      await expect(app.refresh([first])).rejects.toMatchObject(REFUSED);
      await expect(app.refresh([first])).rejects.toMatchObject(REFUSED);
      expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
    });

    it.each([10 * SECOND + 1, DAY])('ends the session %i ms after the rotation, and logs a warning', async (age) => {
      const { app, first, open } = await setUp();
      const { refreshToken } = await app.refresh([first]);
      const token = await open(refreshToken);
      app.clock.advance(age);
      await expect(app.refresh([first])).rejects.toMatchObject({
        ...THEFT,
        reason: expect.stringContaining(token.sessionId),
      });
      expect(await app.sessions.find(keyOf(token))).toBeNull();
      await expect(app.refresh([refreshToken])).rejects.toMatchObject(REFUSED);
    });

    it.each([0, DAY])(
      'keeps the session after two more rotations, if they came at once, after %i ms of rest',
      async (rest) => {
        const { app, first } = await setUp();
        const second = (await app.refresh([first])).refreshToken;
        app.clock.advance(rest);
        const third = (await app.refresh([second])).refreshToken;
        app.clock.advance(SECOND);
        const fourth = (await app.refresh([third])).refreshToken;
        await expect(app.refresh([second])).rejects.toMatchObject(REFUSED);
        expect(await app.refresh([fourth])).toHaveProperty('accessToken');
      },
    );
  });

  describe('after the store has lost rotations', () => {
    type Given = {
      readonly pace?: number;
      readonly rotate?: (stores: Pick<Service, 'sessions'>) => Service['sessions']['rotate'];
    };
    /** A store as it was after the first rotation, and the tokens that were issued, of which it has lost all but the first two. */
    const forgetful = async ({ pace = 15 * MINUTE, rotate }: Given = {}) => {
      const outcomes: string[] = [];
      const { transactions: _transactions, ...all } = memoryStorage();
      const sessions = { ...all.sessions, ...(rotate !== undefined && { rotate: rotate(all) }) };
      const add = unreliable(all.records.insert);
      const records = atCall(all.records, ['insert', 'events'], (_call, ...given) => add(...given));
      const stores = { ...all, sessions, records };
      const report = reportsOf('refresh', (outcome) => outcomes.push(outcome));
      const set = await setUp({ ...stores, report });
      const { app, first, open } = set;
      const tokens = [first];
      const next = async () => {
        app.clock.advance(pace);
        tokens.push((await app.refresh([tokens.at(-1) ?? ''])).refreshToken);
      };
      await next();
      const key = keyOf(await open(first));
      const known = (await stores.sessions.find(key)) ?? expect.unreachable();
      for (let time = 0; time < 3; time += 1) await next();
      await stores.sessions.end(key);
      await stores.sessions.add(known);
      outcomes.length = 0;
      const kinds = async () =>
        (await eventsOf(stores.records, { userId: set.user.id, limit: 10, before: null })).map(({ kind }) => kind);
      return { ...set, tokens, outcomes, add, kinds };
    };

    it('goes on with the newest token, and says so', async () => {
      const { app, tokens, outcomes, kinds } = await forgetful();
      const { refreshToken } = await app.refresh([tokens[4] ?? '']);
      expect(outcomes).toEqual(['recovered']);
      expect(await kinds()).toContain('session-recovered');
      await app.refresh([refreshToken]);
      expect(outcomes).toEqual(['recovered', 'rotated']);
    });

    it('takes a token that another tab has had shortly before for a race', async () => {
      const { app, tokens } = await forgetful({ pace: 6 * SECOND });
      app.clock.advance(5 * SECOND);
      const { refreshToken } = await app.refresh([tokens[4] ?? '']);
      await expect(app.refresh([tokens[1] ?? ''])).rejects.toMatchObject(REFUSED);
      expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
    });

    it('ends the session when two have used it', async () => {
      const { app, tokens, outcomes } = await forgetful();
      const thief = await app.refresh([tokens[2] ?? '']);
      const owner = await app.refresh([tokens[4] ?? '']);
      expect(outcomes).toEqual(['recovered', 'recovered']);
      await expect(app.refresh([thief.refreshToken])).rejects.toMatchObject(REFUSED);
      app.clock.advance(MINUTE);
      await expect(app.refresh([thief.refreshToken])).rejects.toMatchObject(THEFT);
      await expect(app.refresh([owner.refreshToken])).rejects.toMatchObject(REFUSED);
    });

    it('is refused if a store of one’s own does not know what to expect, and nothing ends', async () => {
      const { app, tokens } = await forgetful({
        rotate: (stores) => (rotation) => stores.sessions.rotate({ ...rotation, expected: rotation.from }),
      });
      await expect(app.refresh([tokens[4] ?? ''])).rejects.toMatchObject(REFUSED);
      expect(await app.refresh([tokens[1] ?? ''])).toHaveProperty('accessToken');
    });

    it('leaves the token usable if the event cannot be stored', async () => {
      const { app, tokens, add } = await forgetful();
      add.failNext();
      await expect(app.refresh([tokens[4] ?? ''])).rejects.toThrow('down');
      expect(await app.refresh([tokens[4] ?? ''])).toHaveProperty('accessToken');
    });
  });

  describe('with a replay window', () => {
    it('returns the current token again for its predecessor, and for itself', async () => {
      const { app, user, first, open } = await setUp({ jwtRefreshReplayWindow: 5 * SECOND });
      const { refreshToken } = await app.refresh([first]);
      app.clock.advance(5 * SECOND - 1);
      const again = await app.refresh([first]);
      expect(await open(again.refreshToken)).toEqual(await open(refreshToken));
      const twice = await app.refresh([again.refreshToken]);
      expect(await open(twice.refreshToken)).toEqual(await open(refreshToken));
      expect(await app.authenticate(again.accessToken)).toMatchObject({
        ok: true,
        token: { claims: { sub: user.id, iat: Math.floor(app.clock.now() / 1000) } },
      });
      expect(await app.refresh([again.refreshToken])).toHaveProperty('accessToken');
    });
  });

  describe('leaves the token usable', () => {
    it.each(['signAccess', 'signRefresh'] as const)('when %s fails', async (method) => {
      const tokens = plainTokenSigner();
      const sign = { signAccess: unreliable(tokens.signAccess), signRefresh: unreliable(tokens.signRefresh) };
      const { app, first } = await setUp({ tokens: { ...tokens, ...sign } });
      sign[method].failNext();
      await expect(app.refresh([first])).rejects.toThrow('down');
      expect(await app.refresh([first])).toHaveProperty('accessToken');
    });

    it('when the request was aborted during the rotation', async () => {
      const { users, sessions, records } = memoryStorage();
      const caller = new AbortController();
      const rotate: typeof sessions.rotate = async (rotation) => {
        const won = await sessions.rotate(rotation);
        caller.abort();
        return won;
      };
      const { app, first, open } = await setUp({ users, records, sessions: { ...sessions, rotate } });
      const token = await open(first);
      await expect(app.refresh([first], { cancellation: caller.signal })).rejects.toThrow();
      expect(await sessions.find(keyOf(token))).toMatchObject({ currentTokenId: token.claims.jti });
      expect(await app.refresh([first])).toHaveProperty('accessToken');
    });

    it('when the client has hung up before the rotation: nothing is rotated', async () => {
      const outcomes: string[] = [];
      const { app, first } = await setUp({ report: reportsOf('refresh', (outcome) => outcomes.push(outcome)) });
      await expect(app.refresh([first], { client: AbortSignal.abort() })).rejects.toThrow();
      app.clock.advance(MINUTE);
      expect(await app.refresh([first])).toHaveProperty('accessToken');
      expect(outcomes).toEqual(['unsent', 'rotated']);
    });

    it.each([
      [0, 'the rotation is reverted'],
      [10 * SECOND, 'not within a replay window, in which another request may have been given the new token'],
    ])('when the client has hung up during the rotation, replay window %d ms: %s', async (jwtRefreshReplayWindow) => {
      const client = new AbortController();
      const stores = memoryStorage();
      const { sessions } = stores;
      const hangingUp: typeof sessions = {
        ...sessions,
        rotate: async (rotation) => {
          const rotated = await sessions.rotate(rotation);
          client.abort(new Error('gone'));
          return rotated;
        },
      };
      const outcomes: string[] = [];
      const report = reportsOf('refresh', (outcome) => outcomes.push(outcome));
      const { app, first, open } = await setUp({ ...stores, sessions: hangingUp, jwtRefreshReplayWindow, report });
      const token = await open(first);
      const isCurrent = async () => (await sessions.find(keyOf(token)))?.currentTokenId === token.claims.jti;
      const outcome = app.refresh([first], { client: client.signal });
      if (jwtRefreshReplayWindow > 0) {
        await outcome;
        expect([await isCurrent(), outcomes]).toEqual([false, ['rotated']]);
        return;
      }
      await expect(outcome).rejects.toThrow('gone');
      expect([await isCurrent(), outcomes]).toEqual([true, ['unsent']]);
      app.clock.advance(MINUTE);
      expect(await app.refresh([first])).toHaveProperty('accessToken');
    });
  });
});
