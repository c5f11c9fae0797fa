import { describe, expect, it } from 'vitest';
import {
  linkIdentity,
  linkKeptIdentities,
  listIdentities,
  unlinkIdentity,
} from '../../../src/application/identities/at-provider.ts';
import { signIn } from '../../../src/application/identities/sign-in.ts';
import type { Service } from '../../../src/application/service.ts';
import { findIdentity } from '../../../src/application/storage/credentials.ts';
import type { VerifiedIdentity } from '../../../src/domain/identity.ts';
import { BOB, EMAIL, ORIGIN, registeredAda } from '../../support/account.ts';
import { MINUTE } from '../../support/application.ts';
import { anIdentity, aPasskey } from '../../support/builders.ts';

const CONFLICT = { code: 'AUTH_IDENTITY_CONFLICT' };
const IDENTITY: VerifiedIdentity = {
  issuer: 'https://accounts.example',
  subject: '4711',
  provider: 'acme',
  email: 'ada@elsewhere.example',
  isEmailVerified: true,
};

const setUp = async (given: Pick<Service, 'mailNotices' | 'loginByCode' | 'secondFactor'> = {}) => {
  const ada = await registeredAda();
  const { app, user, session } = ada;
  const deps = { ...app, ...given };
  return {
    ...ada,
    caller: { userId: user.id, sessionId: session.sessionId },
    link: linkIdentity(deps),
    unlink: unlinkIdentity(deps),
    list: listIdentities(deps),
    enter: async (identity = IDENTITY) => {
      const result = await signIn({ ...deps, pause: async () => undefined })({ identity });
      if ('pendingLogin' in result) return expect.unreachable('waits for a second factor');
      return { userId: result.user.id, sessionId: result.sessionId };
    },
  };
};

describe('linkIdentity', () => {
  it('links any identity to the user of the session, once; the user is told and signs in with it', async () => {
    const { caller, link, list, enter, pending, happened } = await setUp();
    const linked = await link(caller, IDENTITY);
    expect(await link(caller, IDENTITY)).toEqual(linked);
    expect(await list(caller)).toEqual([linked]);
    expect(await pending()).toEqual([`identity-linked to ${EMAIL}`]);
    expect(await happened()).not.toContain('email-verified');
    expect((await enter()).userId).toBe(caller.userId);
  });

  it('verifies the address of the account if the provider says that it is the user’s', async () => {
    const { app, caller, session, link, happened } = await setUp();
    await link(caller, { ...IDENTITY, email: EMAIL });
    expect(await happened()).toContain('email-verified');
    await app.refresh([session.refreshToken]);
  });

  it('needs a user who has authenticated within five minutes', async () => {
    const { app, caller, link, unlink } = await setUp();
    const { id } = await link(caller, IDENTITY);
    app.clock.advance(5 * MINUTE);
    for (const act of [link(caller, { ...IDENTITY, subject: '4712' }), unlink(caller, id)])
      await expect(act).rejects.toMatchObject({ code: 'AUTH_STEP_UP_REQUIRED' });
  });

  it('does not take an identity from another account, also when both link it at once', async () => {
    const { app, caller, link } = await setUp();
    const { user, sessionId } = await app.register(BOB);
    const bob = { userId: user.id, sessionId };
    const outcomes = await Promise.allSettled([caller, bob].map((each) => link(each, IDENTITY)));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: CONFLICT });
  });
});

const KEPT = { ...IDENTITY, email: EMAIL };

it.each<[string, (world: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>, number]>([
  ['is linked by the next log-in', async () => undefined, 1],
  ['is not if the password has changed', ({ setPassword }) => setPassword('staple battery', { isNew: true }), 0],
  ['is not if the address has', ({ app, user }) => app.users.update(user.id, { email: 'ada@new.example', now: 1 }), 0],
  [
    'is not if its owner has removed it',
    async ({ caller, link, unlink }) => unlink(caller, (await link(caller, KEPT)).id),
    0,
  ],
])('an identity that a browser has kept %s', async (_what, meanwhile, linked) => {
  const world = await setUp();
  const { app, user, session, caller, list } = world;
  const text = app.secrets.encrypt(JSON.stringify(['kept-identity', KEPT, user.id, 0]), app.clock.now() + MINUTE);
  await meanwhile(world);
  await linkKeptIdentities(app)([text], { ...session, user }, ORIGIN);
  expect(await list(caller)).toHaveLength(linked);
});

describe('unlinkIdentity', () => {
  const user = async (given: Partial<Service> = {}, as = IDENTITY) => {
    const world = await setUp(given);
    const caller = await world.enter(as);
    const [identity] = await world.list(caller);
    return { ...world, caller, id: identity?.id ?? '' };
  };

  it.each([
    ['', {}, true],
    [': codes to an address that nobody has proven are none', { loginByCode: true }, false],
  ])('keeps the only way in%s', async (_what, given, isEmailVerified) => {
    const { caller, unlink, list, id } = await user(given, { ...IDENTITY, isEmailVerified });
    await expect(unlink(caller, id)).rejects.toMatchObject(CONFLICT);
    expect(await list(caller)).toMatchObject([{ id }]);
  });

  it.each<[string, Partial<Service>, (world: Awaited<ReturnType<typeof user>>) => Promise<unknown>]>([
    ['codes by mail', { loginByCode: true }, async () => undefined],
    ['a passkey', {}, ({ app, caller: { userId } }) => app.records.insert('passkeys', aPasskey({ userId }))],
    ['another identity', {}, ({ app, caller: { userId } }) => app.records.insert('identities', anIdentity({ userId }))],
  ])('removes one of a user who has %s', async (_way, given, prepare) => {
    const world = await user(given);
    const { app, caller, unlink, id, about } = world;
    await prepare(world);
    await unlink(caller, id);
    expect(await findIdentity(app.records, IDENTITY)).toBeNull();
    const { events, messages } = await about(caller.userId);
    expect(events.map(({ kind }) => kind)).toContain('identity-unlinked');
    expect(messages.map(({ kind }) => kind)).toContain('identity-unlinked');
    await expect(unlink(caller, id)).rejects.toMatchObject({ code: 'DB_RECORD_NOT_FOUND' });
  });

  it('removes one in a session that was opened with the password, and none of another user', async () => {
    const { app, caller, link, unlink, enter } = await setUp();
    const { id } = await link(caller, IDENTITY);
    const stranger = await enter({ ...IDENTITY, subject: 'grace', email: 'grace@example.org' });
    await expect(unlink(stranger, id)).rejects.toMatchObject({ code: 'DB_RECORD_NOT_FOUND' });
    await unlink(caller, id);
    expect(await findIdentity(app.records, IDENTITY)).toBeNull();
  });
});
