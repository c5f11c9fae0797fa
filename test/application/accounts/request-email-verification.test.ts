import { describe, expect, it } from 'vitest';
import { requestEmailVerification } from '../../../src/application/accounts/verify-email.ts';
import { EMAIL, ORIGIN, registeredAda } from '../../support/account.ts';
import { MINUTE } from '../../support/application.ts';

const setUp = async () => {
  const ada = await registeredAda();
  const { app } = ada;
  const waiting = () => app.outbox.claim({ now: app.clock.now(), until: app.clock.now(), limit: 100 });
  return { ...ada, waiting, request: requestEmailVerification(app) };
};

describe('requestEmailVerification', () => {
  it.each([
    ['has an account', EMAIL],
    ['has none', 'nobody@example.org'],
  ])('stores the same for an address that %s', async (_what, email) => {
    const { ofAda, waiting, request } = await setUp();
    const before = await ofAda();
    await request(email, ORIGIN);
    expect(await waiting()).toMatchObject([
      { kind: 'email-verification-request', userId: null, to: email, email: null, origin: ORIGIN },
    ]);
    expect(await ofAda()).toEqual(before);
  });

  it('keeps one request of an address, however it is spelled', async () => {
    const { waiting, request } = await setUp();
    await request(' Ada@Example.ORG ');
    await request(EMAIL);
    expect(await waiting()).toMatchObject([{ to: EMAIL }]);
  });

  it('has links sent to an address that is not verified, and to no other', async () => {
    const { app, user, happened, purposes, request } = await setUp();
    await request('nobody@example.org');
    await request(EMAIL);
    expect(await app.sendAll()).toMatchObject([{ to: EMAIL }]);
    expect(await purposes()).toEqual(['email-verification', 'not-me']);
    expect(await happened()).toEqual(['email-verification-requested', 'registered']);

    app.clock.advance(10 * MINUTE);
    await app.users.update(user.id, { emailVerifiedAt: app.clock.now(), now: app.clock.now() });
    await request(EMAIL);
    expect(await app.sendAll()).toEqual([]);
    expect(await happened()).toEqual(['email-verification-requested', 'registered']);
  });
});
