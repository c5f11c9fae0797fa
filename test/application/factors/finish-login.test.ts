import { expect, it } from 'vitest';
import { finishLogin } from '../../../src/application/factors/finish-login.ts';
import { makeRecoveryCodes } from '../../../src/application/factors/manage-factors.ts';
import { login } from '../../../src/application/login/login.ts';
import { BOB } from '../../support/account.ts';
import { ADA } from '../../support/application.ts';
import { person } from '../../support/takeover/person.ts';
import { takeoverWorld } from '../../support/takeover/world.ts';
import { beforeNextTransaction } from '../../support/transactions.ts';

/** Ada with an authenticator app, two log-ins that wait for it, and two recovery codes. */
const setUp = async () => {
  const world = await takeoverWorld({ secondFactor: 'optional', emailVerification: 'off' });
  const ada = person(world, ADA.username);
  ada.hold(world.session);
  await ada.addApp();
  const pending = async () => {
    const result = await login(world.deps)({ account: ADA.username, password: ADA.password });
    return 'pendingLogin' in result ? result.pendingLogin : expect.unreachable('no second factor');
  };
  const [first = '', second = ''] = await makeRecoveryCodes(world.deps)(ada.caller());
  const code = ada.codeOf(ada.apps[0]?.secret ?? '');
  return { world, pending: [await pending(), await pending()] as const, codes: [first, second] as const, code };
};
type Given = Awaited<ReturnType<typeof setUp>>;

it.each<[string, (given: Given) => readonly (readonly [string, { code: string } | { recoveryCode: string }])[]]>([
  ['a code', ({ pending, code }) => pending.map((each) => [each, { code }] as const)],
  ['a recovery code', ({ pending, codes: [recoveryCode] }) => pending.map((each) => [each, { recoveryCode }] as const)],
  ['a log-in', ({ pending: [one], codes }) => codes.map((recoveryCode) => [one, { recoveryCode }] as const)],
])('%s opens one session, also when it is used twice at the same time', async (_what, uses) => {
  const given = await setUp();
  const { app, deps, userId } = given.world;
  const before = (await app.sessions.listByUser(userId, app.clock.now())).length;
  const outcomes = await Promise.allSettled(
    uses(given).map(([pending, factor]) => finishLogin(deps)({ pendingLogins: [pending], factor })),
  );
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'AUTH_SECOND_FACTOR_INVALID' },
  });
  expect(await app.sessions.listByUser(userId, app.clock.now())).toHaveLength(before + 1);
});

it.each<[string, (given: Given['world'], now: number) => Promise<unknown>]>([
  [
    'the password is changed',
    ({ deps, userId }, now) =>
      deps.users.setPasswordHash(userId, { passwordHash: 'x', isOfNewPassword: true, now: now + 1 }),
  ],
  ['the apps are removed', ({ deps, userId }, now) => deps.users.update(userId, { secondFactorAt: null, now })],
])('a log-in is not finished when %s at that moment', async (_what, change) => {
  const { world, pending, code } = await setUp();
  const { deps } = world;
  beforeNextTransaction(deps, async () => void (await change(world, deps.clock.now())));
  const refused = { code: 'AUTH_SECOND_FACTOR_INVALID' };
  await expect(finishLogin(deps)({ pendingLogins: [pending[0]], factor: { code } })).rejects.toMatchObject(refused);
});

it('the session knows when each factor was shown', async () => {
  const { world, pending, codes } = await setUp();
  const { app, deps, userId } = world;
  const knownAt = app.clock.now();
  app.clock.advance(60_000);
  const factor = { recoveryCode: codes[0] };
  const { opened } = await finishLogin(deps)({ pendingLogins: [pending[0]], factor });
  const session = await app.sessions.find({ id: opened.sessionId, userId });
  expect(session).toMatchObject({ knownAt, heldAt: app.clock.now(), authenticatedAt: app.clock.now() });
});

it('guesses with a session of another user are counted as those of anybody, and with an own one apart', async () => {
  const { world, pending } = await setUp();
  const { refreshToken } = await world.app.register(BOB);
  const guess = (...refreshTokens: string[]) =>
    finishLogin(world.deps)({ pendingLogins: [pending[0]], factor: { code: 'wrong' }, refreshTokens });
  for (let time = 0; time < 50; time += 1)
    await expect(guess()).rejects.toMatchObject({ code: 'AUTH_SECOND_FACTOR_INVALID' });
  await expect(guess(refreshToken)).rejects.toMatchObject({ code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' });
  const own = guess(refreshToken, world.session.refreshToken);
  await expect(own).rejects.toMatchObject({ code: 'AUTH_SECOND_FACTOR_INVALID' });
});
