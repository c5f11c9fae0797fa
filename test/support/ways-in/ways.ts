import type { Response } from 'supertest';
import { expect } from 'vitest';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import { UNKNOWN_PASSWORD } from '../../../src/domain/password.ts';
import type { WayIn } from '../../../src/domain/ways-in.ts';
import { authenticator } from '../authenticator.ts';
import { codeAt } from '../authenticator-app.ts';
import { anApp, codeFor } from '../http/app-login.ts';
import { visitorOf } from '../http/page-visitor.ts';
import { aPerson, cookiePair, refreshCookieOf } from '../http/service.ts';
import { joseDeviceKey } from '../jose-proofs.ts';
import type { OwnedAccount, Person } from './world.ts';

/** The user's password in the former system. */
export const FORMER_PASSWORD = 'a password of the former system';
const NEW_PASSWORD = 'a password of somebody else';
const ORIGIN = 'https://auth.example.org';
const STEP = 30_000;

/** A way in that a person has. */
export type HeldWay = {
  /** Tries the way in, which may use it up. */
  readonly works: () => Promise<boolean>;
  /** Removes the way in, as the owner of the account may. */
  readonly remove?: () => PromiseLike<unknown>;
};
type AddWay = (world: OwnedAccount, mine: boolean) => Promise<HeldWay>;

const succeeds = async (request: PromiseLike<Response>): Promise<boolean> => (await request).status < 400;

/** A person at the provider. They have the address of the account if it is proven, which must not bring back a removed way in. */
const personAtProvider = ({ account: { isProven, email } }: OwnedAccount): Person => ({
  sub: crypto.randomUUID(),
  email: isProven ? email : aPerson().email,
  email_verified: true,
});

const addApp = async ({ me, account, clock }: OwnedAccount) => {
  const { id, secret } = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
  const code = codeAt(secret, clock.now());
  const { recoveryCodes } = (await me('post', '/users/me/factors/totp/confirm', { id, code }).expect(200)).body.data;
  account.secrets.push(secret);
  clock.advance(STEP);
  return { id, secret, recoveryCodes };
};

/** Logs in with a mailed code, and presents a second factor. */
const withFactor = async (world: OwnedAccount, factor: () => object): Promise<boolean> => {
  const first = await (await world.askForCode())();
  if (first.body.code !== 'AUTH_SECOND_FACTOR_REQUIRED') return false;
  return succeeds(world.showFactor(world.cookiesOf(first), factor()));
};

const opensAt = async (world: OwnedAccount, who: Person): Promise<boolean> =>
  world.opens(await world.cameBack(await world.begin(who), who));

/** Links the identity of a person at the provider to the account. */
const linkIdentity = async (world: OwnedAccount, who = personAtProvider(world)) => {
  const { me, begin, cameBack } = world;
  const back = await cameBack(await begin(who, '/auth/oidc/acme/link'), who);
  expect(back.get('Location')).not.toContain('error=');
  const { id } = (await me('get', '/users/me/identities').expect(200)).body.data.at(-1);
  return { who, remove: () => me('delete', `/users/me/identities/${id}`).expect(200) };
};

/** A way in by the link in a mail to the owner. */
const wayByMail =
  (ask: 'password-reset' | 'email-verification', purpose: LinkPurpose, path: string, more = {}): AddWay =>
  async ({ askForLink, confirmLink }) => {
    const token = await askForLink(ask, purpose);
    return { works: () => succeeds(confirmLink(path, token, more)) };
  };

const sessionsOf = async ({ me }: OwnedAccount): Promise<{ id: string; current: boolean; binding: string }[]> =>
  (await me('get', '/auth/sessions').expect(200)).body.data;

export const WAYS: Readonly<Record<WayIn, AddWay>> = {
  password: async ({ logIn, isIn, account }) => {
    const { password } = account;
    return { works: async () => isIn(await logIn(password)) };
  },
  session: async (world, mine) => {
    const { service, me, account } = world;
    const opened = mine ? null : cookiePair(refreshCookieOf(await world.finished(await world.logIn())));
    const other = (await sessionsOf(world)).find(({ current }) => current === mine)?.id;
    return {
      works: () => succeeds(service.http.post('/auth/refresh-token').set('Cookie', opened ?? account.cookie)),
      remove: () => me('delete', `/auth/sessions/${other ?? account.id}`).expect(200),
    };
  },
  'device-key': async (world) => {
    const { service, account, clock, me } = world;
    const key = await joseDeviceKey();
    const proof = (path: string) => key.proof({ htu: ORIGIN + path, now: clock.now() });
    const body = { account: account.email, password: account.password, proof: await proof('/auth/login') };
    const cookie = cookiePair(refreshCookieOf(await service.http.post('/auth/login').send(body).expect(200)));
    const id = (await sessionsOf(world)).find(({ binding }) => binding === 'device')?.id;
    return {
      works: async () => {
        const refresh = { proof: await proof('/auth/refresh-token') };
        return succeeds(service.http.post('/auth/refresh-token').set('Cookie', cookie).send(refresh));
      },
      remove: () => me('delete', `/auth/sessions/${id}`).expect(200),
    };
  },
  'remembered-device': async (world) => {
    const { secret } = await addApp(world);
    const { logIn, showFactor, cookiesOf, clock, office, account, me } = world;
    const factor = { code: codeAt(secret, clock.now()), remember: true };
    await showFactor(cookiesOf(await logIn()), factor).expect(200);
    const listed = async () => (await office('get', `/users/${account.id}/export`)).body.data?.rememberedDevices ?? [];
    const [device] = await listed();
    expect(device).toBeDefined();
    return {
      works: async () => (await listed()).some(({ id }: { readonly id: string }) => id === device.id),
      remove: () => me('delete', `/auth/sessions/${device.id}`).expect(200),
    };
  },
  passkey: async ({ me, service, isIn }) => {
    const key = authenticator({ rpId: 'auth.example.org', origin: ORIGIN });
    const options = (await me('post', '/users/me/passkeys/options').expect(200)).body.data;
    const { body } = await me('post', '/users/me/passkeys', { credential: key.create(options) }).expect(201);
    return {
      works: async () => {
        const challenge = (await service.http.post('/auth/passkey/options').expect(200)).body.data;
        return isIn(await service.http.post('/auth/passkey').send({ credential: key.get(challenge) }));
      },
      remove: () => me('delete', `/users/me/passkeys/${body.data.id}`).expect(200),
    };
  },
  app: async (world) => {
    const { id, secret } = await addApp(world);
    return {
      works: () => withFactor(world, () => ({ code: codeAt(secret, world.clock.now()) })),
      remove: () => world.me('delete', `/users/me/factors/${id}`).expect(200),
    };
  },
  'recovery-code': async (world) => {
    const { id, recoveryCodes } = await addApp(world);
    return {
      works: () => withFactor(world, () => ({ recoveryCode: recoveryCodes[0] })),
      remove: () => world.me('delete', `/users/me/factors/${id}`).expect(200),
    };
  },
  identity: async (world) => {
    const { who, remove } = await linkIdentity(world);
    return { works: () => opensAt(world, who), remove };
  },
  /** A removed identity counts as working as long as the service refuses it. */
  'removed-identity': async (world) => {
    const { who, remove } = await linkIdentity(world);
    await remove();
    return {
      works: async () => {
        const back = await world.cameBack(await world.begin(who), who);
        // The browser also stores no identity for the next log-in.
        expect(world.cookiesOf(back)).not.toMatch(/sign_in_[\w-]+=[^;]/);
        const exists = (await world.office('get', `/users/${world.account.id}`)).status === 200;
        return exists && !(await world.opens(back));
      },
    };
  },
  'password-reset': wayByMail('password-reset', 'password-reset', '/auth/password-reset/confirm', {
    newPassword: NEW_PASSWORD,
  }),
  'handed-over': async ({ office, account, confirmLink }) => {
    const { body } = await office('post', `/users/${account.id}/reset-link`, { handOver: true });
    const [, token = ''] = /#token=(.+)$/.exec(body.data.url) ?? [];
    const use = { newPassword: NEW_PASSWORD };
    return { works: () => succeeds(confirmLink('/auth/password-reset/confirm', token, use)) };
  },
  'email-verification': wayByMail('email-verification', 'email-verification', '/auth/email-verification/confirm'),
  'not-me': wayByMail('email-verification', 'not-me', '/auth/email-verification/not-me'),
  'email-change': async ({ askForAddress, confirmLink }) => {
    const token = await askForAddress(aPerson().email);
    return { works: () => succeeds(confirmLink('/auth/email-change/preview', token)) };
  },
  'email-change-undo': async ({ account, changeAddress, tokenIn, confirmLink }) => {
    const former = account.email;
    await changeAddress(aPerson().email);
    account.mailbox = account.email;
    const undo = await tokenIn(former, 'email-change-undo');
    return { works: () => succeeds(confirmLink('/auth/email-change/undo', undo)) };
  },
  'factors-undo': async (world) => {
    await WAYS.passkey(world, false);
    const token = await world.tokenIn(world.account.email, 'factors-undo');
    return { works: () => succeeds(world.confirmLink('/auth/factors/undo', token)) };
  },
  'mail-code': async ({ askForCode, isIn }) => {
    const present = await askForCode();
    return { works: async () => isIn(await present()) };
  },
  'confirmation-code': async (world) => {
    await world.me('post', '/users/me/code').expect(202);
    const code = await world.codeIn(world.account.email);
    return {
      works: async () => {
        if (!(await succeeds(world.me('get', '/users/me'))) && !(await world.enter())) return false;
        return succeeds(world.me('put', '/users/me/email', { email: aPerson().email, code }));
      },
    };
  },
  'pending-login': async (world) => {
    const { secret } = await addApp(world);
    const pending = world.cookiesOf(await world.logIn());
    return {
      works: () => {
        world.clock.advance(STEP);
        const code = codeAt(secret, world.clock.now());
        return succeeds(world.showFactor(pending, { code }));
      },
    };
  },
  'app-code': async (world) => {
    const browser = visitorOf(world.service);
    browser.jar.set(
      'refresh_token',
      cookiePair(refreshCookieOf(await world.finished(await world.logIn()))).slice('refresh_token='.length),
    );
    const other = (await sessionsOf(world)).find(({ current }) => !current)?.id;
    const { to, verifier } = anApp();
    const code = await codeFor(browser, to);
    return {
      works: () => succeeds(world.service.http.post('/auth/login/app').send({ code, verifier })),
      remove: () => world.me('delete', `/auth/sessions/${other}`).expect(200),
    };
  },
  'begun-sign-in': async (world) => {
    const { who, remove } = await linkIdentity(world);
    const begun = await world.begin(who);
    return { works: async () => world.opens(await world.cameBack(begun, who)), remove };
  },
  'begun-link': async (world) => {
    const who = { ...personAtProvider(world), email: aPerson().email };
    const begun = await world.begin(who, '/auth/oidc/acme/link');
    return { works: async () => !(await world.cameBack(begun, who)).get('Location')?.includes('error=') };
  },
  'kept-identity': async (world) => {
    const who = personAtProvider(world);
    const kept = world.cookiesOf(await world.cameBack(await world.begin(who), who));
    return {
      works: async () => {
        await (await world.askForCode(kept))();
        return opensAt(world, who);
      },
      remove: async () => (await linkIdentity(world, who)).remove(),
    };
  },
  invitation: async ({ office, account, tokenIn, service }) => {
    const { email } = account;
    expect((await office('post', '/invitations', { email })).status).toBe(201);
    const invitation = await tokenIn(email, 'invitation');
    return {
      works: async () => {
        const invited = { ...aPerson(), email, invitation };
        const { status, body } = await service.http.post('/auth/register').send(invited);
        return status === 201 && body.data.user.id === account.id;
      },
    };
  },
  adoption: async ({ adopt, isIn }) => ({ works: async () => isIn(await adopt()) }),
  'former-password': async ({ service, account, clock, logIn, isIn }) => {
    const forgotten = { passwordHash: UNKNOWN_PASSWORD, isOfNewPassword: false, now: clock.now() };
    await service.ports.users.setPasswordHash(account.id, forgotten);
    account.password = FORMER_PASSWORD;
    return { works: async () => isIn(await logIn(FORMER_PASSWORD)) };
  },
};
