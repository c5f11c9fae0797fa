// Proves theft-8, mail-10, mail-11

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logInWithCode, requestLoginCode } from '../../../src/application/accounts/login-by-code.ts';
import {
  confirmEmail,
  removeUnverifiedAccount,
  takeAccountBack,
} from '../../../src/application/accounts/mail-links.ts';
import { finishLogin, startPendingApp } from '../../../src/application/factors/finish-login.ts';
import { signIn } from '../../../src/application/identities/sign-in.ts';
import { login } from '../../../src/application/login/login.ts';
import { findIdentity, passkeysOf } from '../../../src/application/storage/credentials.ts';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import { EMAIL } from '../../support/account.ts';
import { ADA, DAY, MINUTE } from '../../support/application.ts';
import { holds } from '../../support/properties/properties.ts';
import { person } from '../../support/takeover/person.ts';
import { anIdentityOf, type Operation, programs, thief } from '../../support/takeover/thief.ts';
import { type Policies, succeeds, type TakeoverWorld, takeoverWorld } from '../../support/takeover/world.ts';

const NEW_PASSWORD = 'staple battery';
const UNDOS: readonly LinkPurpose[] = ['email-change-undo', 'factors-undo'];

const POLICIES = fc.record<Policies>({
  secondFactor: fc.constantFrom('optional', 'required'),
  emailVerification: fc.constantFrom('off', 'optional', 'required'),
});

const newestLink = async (world: TakeoverWorld, purpose: LinkPurpose) =>
  (await world.linksOf(EMAIL)).findLast((link) => link.purpose === purpose)?.token ?? expect.unreachable(purpose);

const resetByMail = async (world: TakeoverWorld) => {
  const { app } = world;
  // The requests of others are answered to the owner, too; the next one is answered after half an hour at most.
  app.clock.advance(61 * MINUTE);
  await app.requestPasswordReset(EMAIL);
  await app.resetPassword({ token: await newestLink(world, 'password-reset'), newPassword: NEW_PASSWORD });
};

const logInByCode = async (world: TakeoverWorld) => {
  const { app, deps } = world;
  const asked = [await requestLoginCode(deps)({ account: EMAIL })];
  await world.linksOf(EMAIL);
  const [code = ''] = /^\d{8}$/m.exec(app.mails.findLast(({ to }) => to === EMAIL)?.text ?? '') ?? [];
  return logInWithCode(deps)({ code, asked, locales: ['de'] });
};

/** Logs in with the new password alone, or by adding a first factor where that is required. */
const getsIn = async (
  { app, deps }: TakeoverWorld,
  logIn = login(deps)({ account: EMAIL, password: NEW_PASSWORD }),
): Promise<void> => {
  const result = await logIn;
  if (!('pendingLogin' in result)) return;
  const pendingLogins = [result.pendingLogin];
  expect(deps.secondFactor).toBe('required');
  const { secret } = await startPendingApp(deps, app.secrets.factors)(pendingLogins);
  await finishLogin(deps)({
    pendingLogins,
    factor: { code: person({ app, deps } as TakeoverWorld, '').codeOf(secret) },
  });
};

/** A stranger, or a thief in Ada's account, for five minutes. */
const attacked = async (world: TakeoverWorld, program: readonly Operation[]) => {
  const mallory = thief(world);
  for (const operation of program) await mallory.act(operation);
  return mallory;
};

describe('an account that a stranger has registered with the address of somebody else', () => {
  const held = async (policies: Policies, program: readonly Operation[]) => {
    const world = await takeoverWorld(policies);
    const mallory = thief(world);
    mallory.hold(world.session);
    for (const operation of program) await mallory.act(operation);
    return { world, mallory };
  };

  /** What the owner of the address does about the account. @returns what they do then */
  const ACTS: Readonly<Record<string, (world: TakeoverWorld) => Promise<undefined | (() => Promise<unknown>)>>> = {
    'a reset by mail': async (world) => {
      await resetByMail(world);
      return () => getsIn(world);
    },
    'a log-in with a code': async (world) => {
      await getsIn(world, logInByCode(world));
      expect(await world.stored()).toMatchObject({ emailVerifiedAt: expect.any(Number), locale: 'de' });
      return undefined;
    },
    'a sign-in at a provider that vouches for the address': async (world) => {
      const { app, deps, userId } = world;
      await getsIn(world, signIn(deps)({ identity: anIdentityOf('ada', EMAIL), locales: ['de'] }));
      expect(await world.stored()).toMatchObject({ emailVerifiedAt: expect.any(Number), locale: 'de' });
      expect((await findIdentity(app.records, anIdentityOf('ada')))?.userId).toBe(userId);
      return undefined;
    },
    'a verification, but for the password: the owner has said that it is theirs': async (world) => {
      await world.app.enqueue({ kind: 'email-verification', userId: world.userId, to: EMAIL });
      await confirmEmail(world.deps)({ token: await newestLink(world, 'email-verification'), locales: ['de'] });
      expect(await world.stored()).toMatchObject({ secondFactorAt: null, locale: 'de' });
      return undefined;
    },
    '“I did not register”, which removes it': async (world) => {
      await world.app.enqueue({ kind: 'email-verification', userId: world.userId, to: EMAIL });
      await removeUnverifiedAccount(world.deps)(await newestLink(world, 'not-me'));
      expect(await world.stored()).toBeNull();
      return () => world.app.register(ADA);
    },
  };

  it.each(Object.entries(ACTS))('is the owner’s, whatever was added before, after %s', async (name, act) => {
    const kept = name.startsWith('a verification') ? ['password'] : [];
    const property = fc.asyncProperty(POLICIES, programs(12), async (policies, program) => {
      const { world, mallory } = await held(policies, program);
      // An address that the stranger has given up is that of the next test.
      if ((await world.stored())?.email !== EMAIL) return true;
      const next = await act(world);
      expect((await mallory.ways()).filter((way) => !kept.includes(way))).toEqual([]);
      await next?.();
      return true;
    });
    await holds(property, { numRuns: 40 });
  });

  it('is the owner’s after the link of the first mail about a change, whatever came before or after', async () => {
    const property = fc.asyncProperty(POLICIES, programs(12), async (policies, program) => {
      const { world, mallory } = await held(policies, program);
      const link = (await world.linksOf(EMAIL)).find(({ purpose }) => UNDOS.includes(purpose));
      if (link === undefined) return true;
      await takeAccountBack(world.deps, link.purpose as 'factors-undo')(link);
      await resetByMail(world);
      expect(await mallory.ways()).toEqual([]);
      await getsIn(world);
      return true;
    });
    await holds(property, { numRuns: 60 });
  });
});

describe('an account whose password somebody else knows', () => {
  /** Ada has verified her address, and has a passkey. */
  const owned = async (policies: Policies) => {
    const world = await takeoverWorld(policies);
    const { app, userId, session } = world;
    await app.users.update(userId, { emailVerifiedAt: app.clock.now(), now: app.clock.now() });
    const ada = person(world, ADA.username);
    ada.hold(session);
    await ada.addPasskey();
    await world.linksOf(EMAIL);
    app.clock.advance(DAY);
    return { world, ada };
  };

  /** What a thief has done, and the links that the owner has got by that. */
  const robbed = async (program: readonly Operation[]) => {
    const { world, ada } = await owned({ secondFactor: 'optional', emailVerification: 'optional' });
    const before = (await world.linksOf(EMAIL)).length;
    const mallory = await attacked(world, ['log-in', ...program]);
    const links = (await world.linksOf(EMAIL)).slice(before).filter(({ purpose }) => UNDOS.includes(purpose));
    const hasPasskey = async () =>
      (await passkeysOf(world.app.records, world.userId)).some(({ credentialId }) => credentialId === ada.keys[0]?.id);
    return { world, mallory, links, hasPasskey };
  };
  const use = ({ deps }: TakeoverWorld, link: { purpose: LinkPurpose; token: string }) =>
    takeAccountBack(deps, link.purpose as 'factors-undo')(link);

  it('is the owner’s after the link of the first mail, and a new password', async () => {
    const property = fc.asyncProperty(programs(14), async (program) => {
      const { world, mallory, links, hasPasskey } = await robbed(program);
      const [first] = links;
      const had = await hasPasskey();
      if (first !== undefined) await use(world, first);
      // The link of a change leaves what the owner had before. That of a changed address goes back for a week.
      expect(await hasPasskey()).toBe(had && first?.purpose !== 'email-change-undo');
      await resetByMail(world);
      expect(await mallory.ways()).toEqual([]);
      await getsIn(world);
      return true;
    });
    await holds(property, { numRuns: 80 });
  });

  it('is the owner’s after any links, in any order, of which the first mail’s is one', async () => {
    const property = fc.asyncProperty(programs(10), fc.array(fc.nat()), async (program, order) => {
      const { world, mallory, links } = await robbed(program);
      const [first] = links;
      if (first === undefined) return true;
      for (const at of order) await succeeds(() => use(world, links[at % links.length] ?? first));
      await succeeds(() => use(world, first));
      await resetByMail(world);
      expect(await mallory.ways()).toEqual([]);
      await getsIn(world);
      return true;
    });
    await holds(property, { numRuns: 60 });
  });
});
