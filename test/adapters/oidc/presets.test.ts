// Proves ASVS 10.2.3; provider-3
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { identityProviders } from '../../../src/adapters/oidc/provider.ts';
import type { AppError } from '../../../src/domain/errors/app-error.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { privatePem } from '../../../src/infrastructure/keys.ts';

const SECRETS = { state: 'a-state', nonce: 'a-nonce', verifier: 'v'.repeat(43) };
const UNPROVEN = { code: 'AUTH_IDENTITY_UNPROVEN' };
const CLIENT = { id: 'client-id', secret: 'client-secret' };

type Asked = { readonly body: URLSearchParams; readonly headers: Headers };
/** What others answer, by URL: these providers are not on this machine. */
let internet: Record<string, (asked: Asked) => unknown>;

beforeEach(() => {
  internet = {};
  vi.stubGlobal('fetch', async (url: string, { body, headers }: RequestInit) => {
    const answer = internet[url] ?? expect.unreachable(url);
    const given = await answer({ body: new URLSearchParams(`${body}`), headers: new Headers(headers) });
    return given instanceof Response ? given : Response.json(given);
  });
});

const providerOf = (name: string, more: Readonly<Record<string, string>> = {}) => {
  const { providers } = parseConfig({
    OIDC_PROVIDERS: name,
    [`OIDC_${name.toUpperCase()}_CLIENT_ID`]: CLIENT.id,
    ...(name !== 'apple' && { [`OIDC_${name.toUpperCase()}_CLIENT_SECRET`]: CLIENT.secret }),
    ...more,
  });
  return identityProviders(providers, 'https://auth.example.org').get(name) ?? expect.unreachable();
};

const answer = (more: Readonly<Record<string, string>> = {}) =>
  new URLSearchParams({ code: 'a-code', state: SECRETS.state, ...more }).toString();

/** An OpenID provider on the internet. @returns what it was sent for a code. */
const openIdAt = async (issuer: string, claims: JWTPayload, stated = issuer) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const asked: Asked[] = [];
  internet[`${issuer}/.well-known/openid-configuration`] = () => ({
    issuer: stated,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    id_token_signing_alg_values_supported: ['ES256'],
  });
  internet[`${issuer}/keys`] = async () => ({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] });
  internet[`${issuer}/token`] = async (given) => {
    asked.push(given);
    const token = new SignJWT({ sub: 'a-subject', aud: CLIENT.id, nonce: SECRETS.nonce, ...claims });
    token.setProtectedHeader({ alg: 'ES256' }).setIssuedAt().setExpirationTime('1m');
    return { access_token: 'access', token_type: 'Bearer', id_token: await token.sign(privateKey) };
  };
  return asked;
};

describe('microsoft', () => {
  const COMMON = 'https://login.microsoftonline.com/common/v2.0';
  const TEMPLATE = 'https://login.microsoftonline.com/{tenantid}/v2.0';
  const issuerOf = (tenant: string) => `https://login.microsoftonline.com/${tenant}/v2.0`;

  it.each([
    ['does not vouch for an address', {}],
    ['nor may its tenant', { email_verified: true }],
  ])('has the issuer of the tenant of the user, and %s', async (_name, more) => {
    await openIdAt(COMMON, { iss: issuerOf('t-1'), tid: 't-1', email: 'ada@example.org', ...more }, TEMPLATE);
    expect(await providerOf('microsoft').complete(SECRETS, answer())).toEqual({
      ...{ provider: 'microsoft', issuer: issuerOf('t-1'), subject: 'a-subject' },
      ...{ email: 'ada@example.org', isEmailVerified: false },
    });
  });

  it.each([
    ['another issuer than that of its tenant', { iss: issuerOf('t-2'), tid: 't-1' }],
    ['no tenant', { iss: issuerOf('t-1') }],
    ['the template', { iss: TEMPLATE, tid: 't-1' }],
  ])('is refused with %s', async (_name, claims) => {
    await openIdAt(COMMON, claims, TEMPLATE);
    await expect(providerOf('microsoft').complete(SECRETS, answer())).rejects.toMatchObject(UNPROVEN);
  });

  it('may be one tenant, whose users alone log in', async () => {
    const OIDC_MICROSOFT_ISSUER = issuerOf('t-1');
    await openIdAt(OIDC_MICROSOFT_ISSUER, { iss: issuerOf('t-2'), tid: 't-2' });
    const own = providerOf('microsoft', { OIDC_MICROSOFT_ISSUER });
    await expect(own.complete(SECRETS, answer())).rejects.toMatchObject(UNPROVEN);
  });
});

describe('apple', () => {
  const ISSUER = 'https://appleid.apple.com';

  it('posts, and is sent a client secret that is signed with the key of the developer', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const asked = await openIdAt(ISSUER, { iss: ISSUER, email: 'ada@privaterelay.example', email_verified: 'true' });
    const key = {
      OIDC_APPLE_TEAM_ID: 'TEAM',
      OIDC_APPLE_KEY_ID: 'KEY',
      OIDC_APPLE_PRIVATE_KEY: privatePem(privateKey),
    };
    const apple = providerOf('apple', key);
    expect(apple.callback.isPosted).toBe(true);
    expect(new URL(await apple.begin(SECRETS, false)).searchParams.get('response_mode')).toBe('form_post');
    expect(await apple.complete(SECRETS, answer())).toMatchObject({ issuer: ISSUER, isEmailVerified: true });
    const [{ body } = expect.unreachable()] = asked;
    const { payload, protectedHeader } = await jwtVerify(body.get('client_secret') ?? '', createPublicKey(privateKey));
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY' });
    const iat = payload.iat ?? expect.unreachable();
    expect(payload).toEqual({ iss: 'TEAM', sub: CLIENT.id, aud: ISSUER, iat, exp: iat + 300 });
    expect(body.get('client_id')).toBe(CLIENT.id);
  });
});

describe('github', () => {
  const TOKEN = 'https://github.com/login/oauth/access_token';
  const ADDRESS = { email: 'ada@example.org', primary: true, verified: true };
  const OTHER = { email: 'other@example.org', primary: false, verified: true };
  const users = (user: unknown, emails: unknown) => {
    const asked: Asked[] = [];
    const withToken = (value: unknown) => (given: Asked) => {
      asked.push(given);
      return given.headers.get('authorization') === 'Bearer access' ? value : expect.unreachable();
    };
    internet[TOKEN] = (given) => {
      asked.push(given);
      return { access_token: 'access', token_type: 'bearer', scope: 'read:user,user:email' };
    };
    internet['https://api.github.com/user'] = withToken(user);
    internet['https://api.github.com/user/emails'] = withToken(emails);
    return asked;
  };

  it('is asked for the number of the user, and for their addresses', async () => {
    const url = new URL(await providerOf('github').begin(SECRETS, true));
    expect(url.href).toMatch('https://github.com/login/oauth/authorize?');
    // Of OpenID Connect.
    expect(['nonce', 'max_age'].filter((each) => url.searchParams.has(each))).toEqual([]);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ scope: 'read:user user:email', code_challenge_method: 'S256', state: SECRETS.state },
    });
    const asked = users({ id: 4711, login: 'ada' }, [OTHER, ADDRESS]);
    expect(await providerOf('github').complete(SECRETS, answer())).toEqual({
      ...{ provider: 'github', issuer: 'https://github.com', subject: '4711' },
      ...{ email: 'ada@example.org', isEmailVerified: true },
    });
    const [{ body } = expect.unreachable()] = asked;
    expect(Object.fromEntries(body)).toMatchObject({ code: 'a-code', code_verifier: SECRETS.verifier });
  });

  it.each([
    ['is not verified', [{ ...ADDRESS, verified: false }, OTHER], 'ada@example.org'],
    ['is not the primary one', [OTHER], null],
  ])('vouches for no address that %s', async (_name, emails, email) => {
    users({ id: 4711 }, emails);
    const identity = await providerOf('github').complete(SECRETS, answer());
    expect(identity).toMatchObject({ email, isEmailVerified: false });
  });

  it.each([
    ['has no number', { login: 'ada' }, [ADDRESS]],
    ['has a text for a number', { id: '4711' }, [ADDRESS]],
  ])('is refused when the user %s', async (_name, user, emails) => {
    users(user, emails);
    await expect(providerOf('github').complete(SECRETS, answer())).rejects.toMatchObject(UNPROVEN);
  });

  it.each<[string, unknown, string, string]>([
    ['are no list', { message: 'Not Found' }, 'AUTH_IDENTITY_UNPROVEN', 'its answer is not valid'],
    ['are forbidden', new Response('{}', { status: 403 }), 'AUTH_IDENTITY_UNPROVEN', 'the status 403'],
    [
      'are limited',
      new Response('{}', { status: 403, headers: { 'X-RateLimit-Remaining': '0' } }),
      'SYS_PROVIDER_UNAVAILABLE',
      'limit of requests',
    ],
  ])(
    'says who the user is, and why there is no address, when the addresses %s',
    async (_name, emails, code, reason) => {
      users({ id: 4711 }, emails);
      const identity = await providerOf('github').complete(SECRETS, answer());
      expect(identity).toMatchObject({ subject: '4711', email: null, isEmailVerified: false });
      expect(identity.addressError).toMatchObject({ code, reason: expect.stringContaining(reason) });
    },
  );

  it('is unavailable when it limits the requests for the user', async () => {
    users(new Response('{}', { status: 403, headers: { 'Retry-After': '60' } }), []);
    const unavailable = { code: 'SYS_PROVIDER_UNAVAILABLE', reason: expect.stringContaining('limit of requests') };
    await expect(providerOf('github').complete(SECRETS, answer())).rejects.toMatchObject(unavailable);
  });

  it('is refused with another state, and when the code is not accepted, which it says with the status 200', async () => {
    const github = providerOf('github');
    await expect(github.complete(SECRETS, answer({ state: 'another' }))).rejects.toMatchObject(UNPROVEN);
    internet[TOKEN] = () => ({ error: 'bad_verification_code', error_description: 'The code is incorrect.' });
    const reason = expect.stringContaining('bad_verification_code (the client secret was sent by client_secret_post)');
    await expect(github.complete(SECRETS, answer())).rejects.toMatchObject({ ...UNPROVEN, reason });
  });
});

it('a provider whose document has changed is refused until a failure a minute after it was read', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const issuer = 'https://id.example';
  await openIdAt(issuer, { iss: issuer, email: 'ada@example.org' });
  const provider = providerOf('acme', { OIDC_ACME_ISSUER: issuer });
  const complete = () => provider.complete(SECRETS, answer()).catch((error: AppError) => error.code);
  expect(await complete()).toMatchObject({ subject: 'a-subject' });
  internet[`${issuer}/moved`] = internet[`${issuer}/token`] ?? expect.unreachable();
  internet[`${issuer}/token`] = () => new Response('', { status: 404 });
  const discovery = internet[`${issuer}/.well-known/openid-configuration`] ?? expect.unreachable();
  internet[`${issuer}/.well-known/openid-configuration`] = (asked) => ({
    ...Object(discovery(asked)),
    token_endpoint: `${issuer}/moved`,
  });
  vi.advanceTimersByTime(59_000);
  expect([await complete(), await complete()]).toEqual(['AUTH_IDENTITY_UNPROVEN', 'AUTH_IDENTITY_UNPROVEN']);
  vi.advanceTimersByTime(1_000);
  expect(await complete()).toBe('AUTH_IDENTITY_UNPROVEN');
  expect(await complete()).toMatchObject({ subject: 'a-subject' });
});
