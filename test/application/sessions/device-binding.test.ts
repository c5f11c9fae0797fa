import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { stepUp } from '../../../src/application/factors/step-up.ts';
import { NOTICES_PER_HOUR } from '../../../src/application/notices.ts';
import type { RefreshToken } from '../../../src/application/ports/token-signer.ts';
import { continueNavigation, mintAccessToken } from '../../../src/application/sessions/rendered-pages.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
import type { AccountEvent, Origin } from '../../../src/domain/event.ts';
import { NOTICE_GROUPS } from '../../../src/domain/event-table.ts';
import { BOB, ORIGIN, summaryOf } from '../../support/account.ts';
import { ADA, application, DAY, MINUTE, SECOND, unreliable } from '../../support/application.ts';
import { reportsOf } from '../../support/reports.ts';

const UNPROVEN = { code: 'AUTH_DEVICE_UNPROVEN', status: 401, level: 'info' };
const EXPIRED = { code: 'AUTH_PROOF_EXPIRED', status: 401, level: 'info' };
const LAPTOP: Origin = ORIGIN;
const ELSEWHERE: Origin = { userAgent: 'curl/8.1', address: '198.51.100.0/24', requestId: null };
const HOUR = 60 * MINUTE;

/** A proof as `plainDeviceProof` reads it. */
const presented = (text: string) => ({ presented: { proof: { text, method: 'POST', urls: [] } } });
let numbers = 0;
/** An unused proof of a key. */
const proofOf = (key: string) => {
  numbers += 1;
  return `${key}.${numbers}`;
};
const by = (key: string, origin = LAPTOP) => ({ ...presented(proofOf(key)), origin });
/** What a copied cookie comes with. */
const THIEVES = [
  ['nothing', () => ({})],
  ['a proof of another key', () => presented(proofOf('thief'))],
  ['no proof at all', () => presented('nonsense')],
  ['a proof of another key and another time', () => presented(`${proofOf('thief')}!`)],
] as const;

/** Ada, whose session has the key `ada` of her laptop. */
const setUp = async (given: Parameters<typeof application>[0] = {}) => {
  const outcomes: string[] = [];
  const report = reportsOf('refresh', (outcome) => outcomes.push(outcome));
  const app = application({ mailNotices: new Set(NOTICE_GROUPS), report, ...given });
  const { user, sessionId, refreshToken: first } = await app.register({ ...ADA, ...by('ada') });
  const key = { id: sessionId, userId: user.id };
  const open = async (text: string): Promise<RefreshToken> => {
    const verified = await app.tokens.verifyRefresh(text, app.clock.now());
    return verified.ok ? verified.token : expect.unreachable(verified.reason);
  };
  const happened = async (): Promise<AccountEvent[]> =>
    [...(await eventsOf(app.records, { userId: user.id, before: null, limit: 200 }))].reverse();
  return {
    app,
    user,
    key,
    first,
    open,
    outcomes,
    session: async () => (await app.sessions.find(key)) ?? expect.unreachable('the session has ended'),
    happened: async () => (await happened()).map(summaryOf),
    refusals: async () => (await happened()).filter(({ kind }) => kind === 'device-unproven'),
    told: async () => (await messagesOf(app.records, user.id)).map(({ kind }) => kind),
    /** Refreshes with a new proof. @returns the refresh token. */
    refresh: async (...tokens: string[]) => (await app.refresh(tokens, by('ada'))).refreshToken,
    logIn: (given: object = {}) => app.login({ account: 'Ada', password: ADA.password, ...given }),
  };
};

/** Ada after three rotations: her tokens, the newest last. */
const rotated = async (given: Parameters<typeof application>[0] = {}) => {
  const set = await setUp(given);
  const tokens = [set.first];
  for (let time = 0; time < 3; time += 1) {
    set.app.clock.advance(15 * MINUTE);
    tokens.push(await set.refresh(tokens.at(-1) ?? ''));
  }
  set.outcomes.length = 0;
  return { ...set, tokens, newest: tokens.at(-1) ?? '' };
};

describe('a session with a key of its device', () => {
  it('gets the key at a registration and a log-in, and never at a refresh', async () => {
    const { app, session, logIn, user } = await setUp();
    expect(await session()).toMatchObject({ deviceKey: 'ada', browserKey: null, proofs: [expect.any(Number)] });
    const bound = await logIn(by('phone'));
    expect(await app.sessions.find({ id: bound.sessionId, userId: user.id })).toMatchObject({ deviceKey: 'phone' });
    const unbound = await logIn();
    await app.refresh([unbound.refreshToken], by('thief'));
    const stored = await app.sessions.find({ id: unbound.sessionId, userId: user.id });
    expect(stored).toMatchObject({ deviceKey: null, proofs: [], rotation: 1 });
  });

  it.each([
    ['invalid', 'nonsense', UNPROVEN],
    ['of another time', 'ada.1!', EXPIRED],
  ])('is not opened with a proof that is %s', async (_, text, refusal) => {
    const { app, logIn } = await setUp();
    await expect(logIn(presented(text))).rejects.toMatchObject(refusal);
    const bob = { ...ADA, username: 'Bob', email: 'bob@example.org' };
    await expect(app.register({ ...bob, ...presented(text) })).rejects.toMatchObject(refusal);
    expect(await app.users.findByUsername('Bob')).toBeNull();
  });

  describe('with a proof', () => {
    it.each([0, 10 * SECOND + 1, HOUR, 6 * DAY])(
      'issues its current token again for any older one, %i ms later, without a rotation and a mail',
      async (age) => {
        const { app, tokens, newest, open, session, happened, told, outcomes, refresh } = await rotated();
        app.clock.advance(age);
        const [before, events] = [await session(), await happened()];
        for (const old of tokens.slice(0, -1)) {
          const pair = await app.refresh([old], by('ada'));
          expect(await open(pair.refreshToken)).toEqual(await open(newest));
          expect(await app.authenticate(pair.accessToken)).toMatchObject({ ok: true });
        }
        expect(outcomes).toEqual(['replayable', 'replayable', 'replayable']);
        expect({ ...(await session()), proofs: [] }).toEqual({ ...before, proofs: [] });
        expect(await happened()).toEqual(events);
        expect(await told()).toEqual([]);
        expect(await open(await refresh(newest))).toMatchObject({ rotation: before.rotation + 1 });
      },
    );

    it('takes the best of several cookies', async () => {
      const { app, tokens, newest, open, refresh, logIn, session } = await rotated();
      const again = await refresh('nonsense', tokens[0] ?? '', tokens[1] ?? '');
      expect(await open(again)).toEqual(await open(newest));
      const next = await refresh(tokens[0] ?? '', newest);
      expect((await open(next)).rotation).toBe(4);
      // A session with another key, and one without a key, which is reused.
      const foreign = await logIn(by('phone'));
      expect((await open(await refresh(foreign.refreshToken, tokens[0] ?? ''))).sessionId).toBe((await session()).id);
      const unbound = await logIn();
      await app.refresh([unbound.refreshToken]);
      app.clock.advance(MINUTE);
      expect((await open(await refresh(unbound.refreshToken, tokens[0] ?? ''))).sessionId).toBe((await session()).id);
      expect(await app.sessions.find({ id: unbound.sessionId, userId: (await session()).userId })).toBeNull();
    });

    it('wins over a current cookie of a session without a key, with any of its own', async () => {
      const { app, key, tokens, newest, open, refresh, logIn, happened } = await rotated();
      const { user, ...other } = await app.register(BOB);
      expect(user.id).not.toBe(key.userId);
      for (const own of [tokens[0] ?? '', newest]) {
        for (const cookies of [
          [other.refreshToken, own],
          [own, other.refreshToken],
        ])
          expect((await open(await refresh(...cookies))).sessionId).toBe(key.id);
      }
      const unbound = await logIn();
      expect((await open(await refresh(unbound.refreshToken, tokens[0] ?? ''))).sessionId).toBe(key.id);
      const repeated = by('ada');
      await app.refresh([tokens[0] ?? ''], repeated);
      await expect(app.refresh([other.refreshToken, tokens[0] ?? ''], repeated)).rejects.toMatchObject(EXPIRED);
      const untimely = presented(`${proofOf('ada')}!`);
      await expect(app.refresh([other.refreshToken, newest], untimely)).rejects.toMatchObject(EXPIRED);
      expect(await happened()).not.toContain('device-unproven');
      // Without a proof, the other one is all that can be renewed.
      const { refreshToken } = await app.refresh([newest, other.refreshToken]);
      expect((await open(refreshToken)).sessionId).toBe(other.sessionId);
    });

    it('lets no other session answer a request that cannot show the key: only a page can', async () => {
      const { app, newest } = await rotated();
      const { refreshToken } = await app.register(BOB);
      for (const cookies of [
        [refreshToken, newest],
        [newest, refreshToken],
      ]) {
        await expect(mintAccessToken(app)(cookies)).rejects.toMatchObject(UNPROVEN);
        expect(await continueNavigation(app)(cookies)).toEqual({ next: 'proof' });
      }
      expect(await continueNavigation(app)([refreshToken])).toMatchObject({ next: 'target' });
    });
  });

  describe('without a proof of its key', () => {
    it.each(THIEVES)('refuses a copied cookie of any age with %s, and changes nothing', async (_, shown) => {
      const { app, tokens, session, told, refusals, outcomes, newest, refresh } = await rotated();
      const before = await session();
      for (const age of [0, 1, 10 * SECOND + 1, 6 * DAY - 10 * SECOND])
        for (const token of [...tokens, newest]) {
          app.clock.set(before.rotatedAt + age);
          await expect(app.refresh([token], { ...shown(), origin: ELSEWHERE })).rejects.toMatchObject(UNPROVEN);
        }
      expect(await session()).toEqual(before);
      expect(new Set(outcomes)).toEqual(new Set(['unproven']));
      const [event] = await refusals();
      expect(event).toMatchObject({ sessionId: before.id, userAgent: ELSEWHERE.userAgent, address: ELSEWHERE.address });
      expect(new Set(await told())).toEqual(new Set(['device-unproven']));
      expect(await refresh(newest)).toBeTypeOf('string');
    });

    it('stores few events an hour, and sends a mail a day', async () => {
      const { app, first, refusals, told } = await setUp();
      const refused = () => expect(app.refresh([first])).rejects.toMatchObject(UNPROVEN);
      for (let time = 0; time < 3 * NOTICES_PER_HOUR; time += 1) await refused();
      expect(await refusals()).toHaveLength(NOTICES_PER_HOUR);
      await Promise.all(Array.from({ length: 40 }, refused));
      expect(await refusals()).toHaveLength(NOTICES_PER_HOUR);
      app.clock.advance(HOUR + 1);
      await Promise.all(Array.from({ length: 40 }, refused));
      expect(await refusals()).toHaveLength(2 * NOTICES_PER_HOUR);
      expect(await told()).toEqual(['device-unproven']);
      app.clock.advance(DAY + 1);
      await refused();
      expect(await told()).toEqual(['device-unproven', 'device-unproven']);
    });

    it('locks no user for an event that is not stored', async () => {
      const { app, first } = await setUp();
      for (let time = 0; time < NOTICES_PER_HOUR; time += 1)
        await app.refresh([first]).catch((error) => expect(error).toMatchObject(UNPROVEN));
      let locks = 0;
      const { run } = app.transactions;
      app.transactions.run = (work) =>
        run((stores) => {
          const lock: typeof stores.users.lock = (id) => {
            locks += 1;
            return stores.users.lock(id);
          };
          return work({ ...stores, users: { ...stores.users, lock } });
        });
      await expect(app.refresh([first])).rejects.toMatchObject(UNPROVEN);
      expect(locks).toBe(0);
    });

    it('sends no mail to the owner of the device that has used the session last, and one when another device follows', async () => {
      const { app, first, told, refusals } = await setUp();
      await app.refresh([first], by('ada', ELSEWHERE));
      await expect(app.refresh([first], { origin: ELSEWHERE })).rejects.toMatchObject(UNPROVEN);
      expect([await told(), (await refusals()).length]).toEqual([[], 1]);
      await expect(app.refresh([first])).rejects.toMatchObject(UNPROVEN);
      expect([await told(), (await refusals()).length]).toEqual([['device-unproven'], 2]);
    });

    it('sends no mail when notices are off', async () => {
      const { app, first, told, refusals } = await setUp({ mailNotices: new Set() });
      await expect(app.refresh([first])).rejects.toMatchObject(UNPROVEN);
      expect(await told()).toEqual([]);
      expect(await refusals()).toHaveLength(1);
    });
  });

  describe('with a proof of its key that is not valid any more', () => {
    it('says so for one of another time, without an event and a mail', async () => {
      const { app, tokens, newest, session, refusals, told, refresh } = await rotated();
      const before = await session();
      for (const token of tokens)
        await expect(app.refresh([token], presented(`${proofOf('ada')}!`))).rejects.toMatchObject(EXPIRED);
      expect([await session(), await refusals(), await told()]).toEqual([before, [], []]);
      expect(await refresh(newest)).toBeTypeOf('string');
    });

    it('says so for one that was used, with any token: a browser repeats a request whose connection broke', async () => {
      const { app, tokens, newest, session, refusals, told, refresh } = await rotated();
      const used = by('ada');
      const { refreshToken: next } = await app.refresh([newest], used);
      const again = by('ada');
      await app.refresh([newest], again);
      const before = await session();
      for (const token of [...tokens, next])
        for (const given of [used, again]) await expect(app.refresh([token], given)).rejects.toMatchObject(EXPIRED);
      expect([await session(), await refusals(), await told()]).toEqual([before, [], []]);
      expect(await refresh(newest)).toBeTypeOf('string');
    });

    it('does not use a proof up when the store fails before', async () => {
      const { users, sessions, records } = memoryStorage();
      const useProof = unreliable(sessions.useProof);
      const { app, first, refresh } = await setUp({ users, sessions: { ...sessions, useProof }, records });
      await refresh(first);
      const given = by('ada');
      useProof.failNext();
      await expect(app.refresh([first], given)).rejects.toThrow('down');
      expect(await app.refresh([first], given)).toHaveProperty('accessToken');
    });
  });

  describe('that ends', () => {
    it.each([1, 3])('at a log-out or a log-in with an old token is not replayed: %i rotations ago', async (ago) => {
      for (const act of ['log out', 'log in'] as const) {
        const { app, tokens, happened, told, logIn } = await rotated();
        app.clock.advance(HOUR);
        const old = tokens[3 - ago] ?? '';
        if (act === 'log out') await app.logout([old], ELSEWHERE);
        else await logIn({ networks: ['a network'], refreshTokens: [old] });
        const ended = act === 'log out' ? 'session-ended: logout' : 'session-ended: replaced';
        expect((await happened()).filter((each) => each.startsWith('session-ended'))).toEqual([ended]);
        expect(await told()).not.toContain('token-replayed');
      }
    });

    it('gives its keys and used proofs to the one that replaces it', async () => {
      const { app, user, key, newest } = await rotated();
      const used = by('ada');
      await app.refresh([newest], used);
      await app.sessions.bindBrowser(key, 'a browser');
      const tokenIssuedAt = app.clock.now() / 1000;
      const pair = await app.changePassword({
        ...{ userId: user.id, sessionId: key.id, tokenIssuedAt },
        ...{ currentPassword: ADA.password, newPassword: 'battery staple' },
      });
      const [session] = await app.sessions.listByUser(user.id, app.clock.now());
      expect(session).toMatchObject({ deviceKey: 'ada', browserKey: 'a browser' });
      expect(session?.id).not.toBe(key.id);
      await expect(app.refresh([pair.refreshToken])).rejects.toMatchObject(UNPROVEN);
      await expect(app.refresh([pair.refreshToken], used)).rejects.toMatchObject(EXPIRED);
      expect(await app.refresh([pair.refreshToken], by('ada'))).toHaveProperty('accessToken');
    });

    it('ends its user’s other sessions without new tokens, which a thief of both tokens would get again and again', async () => {
      const { app, user, key, newest, session, logIn, refresh } = await rotated();
      await logIn();
      const before = await session();
      const caller = { userId: user.id, sessionId: key.id };
      for (const presented of [[newest], []])
        expect(await app.endOtherSessions({ ...caller, presented, origin: ELSEWHERE })).toBeNull();
      expect(await app.sessions.listByUser(user.id, app.clock.now())).toEqual([before]);
      expect(await refresh(newest)).toBeTypeOf('string');
    });
  });
});

describe('DEVICE_BINDING', () => {
  it('observe refuses nothing that off accepts, and reports what enforce would refuse', async () => {
    for (const [, shown] of THIEVES) {
      const { app, tokens, newest, outcomes, refusals, told } = await rotated({ deviceBinding: 'observe' });
      const copied = await app.refresh([newest], shown());
      expect(outcomes).toEqual(['unproven', 'rotated']);
      expect([await refusals(), await told()]).toEqual([[], []]);
      // By time, as of a session without a key.
      await expect(app.refresh([newest], shown())).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
      await app.refresh([newest], by('ada'));
      await expect(app.refresh([tokens[0] ?? ''], shown())).rejects.toMatchObject({
        code: 'AUTH_FAILED',
        level: 'warn',
      });
      await expect(app.refresh([copied.refreshToken], by('ada'))).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    }
  });

  it('observe accepts one request of a proof that others have used', async () => {
    const { app, newest } = await rotated({
      deviceBinding: 'observe',
      ...{ jwtRefreshRaceWindow: MINUTE, jwtRefreshReplayWindow: MINUTE },
    });
    const given = by('ada');
    for (let time = 0; time < 3; time += 1) expect(await app.refresh([newest], given)).toHaveProperty('accessToken');
    const results = await Promise.all(Array.from({ length: 5 }, () => app.refresh([newest], given)));
    expect(results).toHaveLength(5);
  });

  it('off neither verifies nor remembers a proof, and judges tokens by time', async () => {
    const bound = await setUp();
    const { app, first } = bound;
    const off = application({
      ...app,
      deviceBinding: 'off',
      proofs: { ...app.proofs, verifyDevice: () => expect.unreachable() },
    });
    off.clock.set(app.clock.now());
    const { refreshToken } = await off.refresh([first], presented('nonsense'));
    expect(await bound.session()).toMatchObject({ deviceKey: 'ada', rotation: 1 });
    expect((await bound.session()).proofs).toHaveLength(1);
    off.clock.advance(MINUTE);
    await expect(off.refresh([first])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'warn' });
    await expect(off.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    const { sessionId, user } = await off.login({ account: 'Ada', password: ADA.password, ...presented('nonsense') });
    expect(await off.sessions.find({ id: sessionId, userId: user.id })).toMatchObject({ deviceKey: null, proofs: [] });
  });
});

describe('stepUp with a proof', () => {
  const another = async (given: Parameters<typeof application>[0] = {}) => {
    const set = await setUp(given);
    const caller = { userId: set.user.id, sessionId: set.key.id, tokenIssuedAt: set.app.clock.now() / 1000 };
    const run = (given: object = {}) =>
      stepUp(set.app)({ ...caller, factor: { password: ADA.password }, ...by('another'), origin: ELSEWHERE, ...given });
    return { ...set, run };
  };

  it('gives the session another key, with the password: the former one is worthless', async () => {
    const { app, first, run, session, happened } = await another();
    // A copy is worthless without the key, so nothing is rotated.
    await run({ refreshTokens: [first] });
    expect(await session()).toMatchObject({ deviceKey: 'another', rotation: 0 });
    expect((await happened()).slice(-2)).toEqual(['device-bound', 'stepped-up']);
    await expect(app.refresh([first], by('ada'))).rejects.toMatchObject(UNPROVEN);
    expect(await app.refresh([first], by('another'))).toHaveProperty('accessToken');
  });

  it('binds a session that has no key', async () => {
    const { app, user, run, logIn } = await another();
    const { sessionId, refreshToken } = await logIn();
    await run({ sessionId });
    expect(await app.sessions.find({ id: sessionId, userId: user.id })).toMatchObject({ deviceKey: 'another' });
    await expect(app.refresh([refreshToken])).rejects.toMatchObject(UNPROVEN);
  });

  it.each([
    ['a wrong password', { factor: { password: 'wrong horse' } }, { code: 'AUTH_CREDENTIALS_INVALID' }],
    ['an invalid proof', presented('nonsense'), UNPROVEN],
    ['a proof of another time', presented('another.7!'), EXPIRED],
    ['a session that has ended', { sessionId: '01J00000000000000000000001' }, { code: 'AUTH_TOKEN_INVALID' }],
  ])('changes nothing with %s', async (_, given, refusal) => {
    const { run, session, happened } = await another();
    const before = [await session(), await happened()];
    await expect(run(given)).rejects.toMatchObject(refusal);
    expect([await session(), await happened()]).toEqual(before);
  });
});

describe('the mail about a replay of a session without a key', () => {
  const replayedFrom = async (lastUse: Origin, replay: Origin) => {
    const app = application({ mailNotices: new Set(NOTICE_GROUPS) });
    const { user, refreshToken } = await app.register({ ...ADA, origin: LAPTOP });
    await app.refresh([refreshToken], { origin: lastUse });
    app.clock.advance(MINUTE);
    await expect(app.refresh([refreshToken], { origin: replay })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await app.sessions.listByUser(user.id, app.clock.now())).toEqual([]);
    return (await messagesOf(app.records, user.id)).map(({ kind }) => kind);
  };

  it('is not sent for the device of the last use, in any version of its browser', async () => {
    expect(await replayedFrom(LAPTOP, LAPTOP)).toEqual([]);
    expect(await replayedFrom(ELSEWHERE, ELSEWHERE)).toEqual([]);
    expect(await replayedFrom(ELSEWHERE, { ...ELSEWHERE, userAgent: 'curl/8.2' })).toEqual([]);
  });

  it('is sent for another network or another browser than that of the last use', async () => {
    expect(await replayedFrom(LAPTOP, { ...LAPTOP, address: ELSEWHERE.address })).toEqual(['token-replayed']);
    expect(await replayedFrom(LAPTOP, { ...LAPTOP, userAgent: ELSEWHERE.userAgent })).toEqual(['token-replayed']);
    expect(await replayedFrom(ELSEWHERE, LAPTOP)).toEqual(['token-replayed']);
  });
});
