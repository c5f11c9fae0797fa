import { describe, expect, it } from 'vitest';
import type { AccessToken } from '../../../src/application/ports/token-signer.ts';
import { authenticateRequest, liveUser } from '../../../src/application/sessions/current-user.ts';
import { BOB, NO_RECORD, registeredAda, TOKEN_INVALID } from '../../support/account.ts';
import { DAY, MINUTE } from '../../support/application.ts';

describe('liveUser', () => {
  const setUp = async () => {
    const ada = await registeredAda();
    const caller = { userId: ada.user.id, sessionId: ada.session.sessionId };
    return { ...ada, caller, key: { id: caller.sessionId, userId: caller.userId } };
  };

  it('returns the user of a live session as stored now', async () => {
    const { app, caller } = await setUp();
    const changed = await app.users.update(caller.userId, { username: 'Countess', now: app.clock.now() });
    expect(await liveUser(app, caller)).toStrictEqual(changed);
  });

  it('refuses a session that has ended, one that has expired, and one of another user', async () => {
    const { app, caller, key } = await setUp();
    const bob = await app.register(BOB);
    await expect(liveUser(app, { ...caller, sessionId: bob.sessionId })).rejects.toMatchObject(TOKEN_INVALID);
    app.clock.advance(7 * DAY - 1);
    expect(await liveUser(app, caller)).toMatchObject({ id: caller.userId });
    app.clock.advance(1);
    await expect(liveUser(app, caller)).rejects.toMatchObject(TOKEN_INVALID);
    app.clock.advance(-1);
    await app.sessions.end(key);
    await expect(liveUser(app, caller)).rejects.toMatchObject(TOKEN_INVALID);
  });

  it('refuses a disabled account, also while its session is stored', async () => {
    const { app, caller, setDisabled } = await setUp();
    await setDisabled(1);
    await expect(liveUser(app, caller)).rejects.toMatchObject(TOKEN_INVALID);
  });

  it('rejects with DB_RECORD_NOT_FOUND when the user does not exist', async () => {
    const { app, caller } = await setUp();
    await app.users.remove(caller.userId);
    await expect(liveUser(app, caller)).rejects.toMatchObject(NO_RECORD);
  });
});

it('authenticateRequest looks a proof up as fast after many others as at first, and remembers a bounded number', async () => {
  const { app } = await registeredAda();
  const token = { claims: { cnf: { jkt: 'key' } } } as AccessToken;
  const authenticate = authenticateRequest({
    clock: app.clock,
    tokens: { ...app.tokens, verifyAccess: async () => ({ ok: true, token }) },
    proofs: {
      ...app.proofs,
      verifyDevice: async (text) => ({ ok: true, proof: { key: 'key', number: Number(text) } }),
    },
  });
  let number = 0;
  const ask = (text: number) => authenticate('', { text: `${text}`, method: '', urls: [] });
  /** A second of a busy process. @returns milliseconds of this machine */
  const second = async () => {
    const start = performance.now();
    for (const end = number + 500; number < end; number += 1) await ask(number);
    app.clock.advance(1_000);
    return performance.now() - start;
  };
  const seconds: number[] = [];
  while (seconds.length < 220) seconds.push(await second());
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length / 2] ?? Number.NaN;
  expect(median(seconds.slice(180)) / median(seconds.slice(0, 40))).toBeLessThan(20);
  expect(await ask(number - 1)).toEqual({ ok: false, reason: 'proof_used' });
  expect(await ask(number - 500 * 119)).toEqual({ ok: false, reason: 'proof_used' });
  expect(await ask(1)).toMatchObject({ ok: true });
  for (const later of [-1, -2]) {
    app.clock.advance(2 * MINUTE + 1);
    await ask(later);
  }
  expect(await ask(number - 1)).toMatchObject({ ok: true });
}, 60_000);
