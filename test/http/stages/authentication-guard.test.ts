// Proves SPEC 1.7, 8.4, 8.6, 8.8, 8.12, 12.18, 17.2, 17.3, 17.4, 17.5, 17.7, 17.8, 17.9, 17.10, 17.11, 20.5, 20.6; ASVS 6.3.4, 8.2.1, 8.3.1, 9.2.1
// Proves ASVS 16.5.3; network-4, theft-2
import { describe, expect, it } from 'vitest';
import { nodeCryptoTokenSigner } from '../../../src/adapters/crypto/jws.ts';
import type { Route, Strategy } from '../../../src/adapters/http/routing/define-route.ts';
import type { MissingStepUp } from '../../../src/domain/assurance.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { type AccessClaims, accessClaims } from '../../../src/domain/tokens.ts';
import { aUser } from '../../support/builders.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { probe, type StageApp, stageApp } from '../../support/http/stage-app.ts';
import { testKeys } from '../../support/keys.ts';

const clock = fixedClock(Date.UTC(2026, 0, 1));
const LIFETIME = 900_000;
const user = aUser({ username: 'Ada', passwordHash: 'hidden' });
const tokenId = '01J00000000000000000000002';
const CLAIMS = accessClaims({ user, tokenId, now: clock.now(), lifetime: LIFETIME, authenticated: null });
const TOKEN = { claims: CLAIMS, sessionId: '01J00000000000000000000004' };

const tokens = await nodeCryptoTokenSigner(testKeys());
const foreignSigner = await nodeCryptoTokenSigner(testKeys());
const VALID = await tokens.signAccess(TOKEN);
const [header = '', payload = '', signature = ''] = VALID.split('.');
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const { user: _user, ...registered } = CLAIMS;

const INVALID: readonly (readonly [what: string, token: string])[] = [
  ['with something else', 'garbage'],
  ['with two tokens', `${VALID} ${VALID}`],
  ['with an expired token', await tokens.signAccess({ ...TOKEN, claims: { ...CLAIMS, exp: clock.now() / 1000 } })],
  ['with other claims', `${header}.${base64url({ ...registered, sub: 'somebody' })}.${signature}`],
  ['with another signature', `${header}.${payload}.${signature.split('').reverse().join('')}`],
  ['without a signature', `${base64url({ alg: 'none', typ: 'JWT' })}.${payload}.`],
  ['with a token signed by a foreign key', await foreignSigner.signAccess(TOKEN)],
  [
    'with a refresh token',
    await tokens.signRefresh({ claims: { ...registered, tokenType: 'refresh' }, sessionId: 'session', rotation: 0 }),
  ],
  ['with a token of 10 000 characters', 'a'.repeat(10_000)],
];
const OTHER_SCHEMES = ['Basic YWRhOnNlY3JldA==', 'Bearerish abc', 'Token abc', VALID, `Digest ${VALID}`];

/** SPEC "Catalog": AUTH_TOKEN_MISSING is "no Bearer token in the request header"; these have the scheme only. */
const NO_TOKEN = ['Bearer', 'bearer', 'Bearer  '];

const CALLER = { userId: CLAIMS.sub, sessionId: TOKEN.sessionId };

const guardedBy = (auth: Strategy): Route =>
  probe(
    ({ claims, caller }, ctx) => ({
      claims: claims ?? null,
      caller: caller ?? null,
      same: ctx.request.jwtClaim === claims && ctx.request.caller === caller,
    }),
    { auth },
  );
const authenticate = (accessToken: string) => tokens.verifyAccess(accessToken, clock.now());
const start = (auth: Strategy) => stageApp([guardedBy(auth)], { authenticate, clock });
const ask = ({ http }: StageApp, authorization: string | null) =>
  authorization === null ? http.get('/probe') : http.get('/probe').set('Authorization', authorization);

const admittedWith = (claims: AccessClaims | null) => ({
  success: true,
  data: { claims, caller: claims && CALLER, same: true },
});

describe('public', () => {
  it.each([null, `Bearer ${VALID}`, 'Bearer garbage', 'Basic abc'])('needs no token: %.20s', async (authorization) => {
    const { body } = await ask(await start('public'), authorization).expect(200);
    expect(body).toMatchObject(admittedWith(null));
    expect(body.context).not.toHaveProperty('user');
  });
});

describe('optional', () => {
  it('passes the claims of a valid token to the handler', async () => {
    const { body } = await ask(await start('optional'), `Bearer ${VALID}`).expect(200);
    expect(body).toMatchObject(admittedWith(CLAIMS));
    expect(body.context.user).toEqual({ id: CLAIMS.sub, username: 'Ada' });
  });

  it.each(INVALID)('admits a request %s as anonymous', async (_what, token) => {
    const response = await ask(await start('optional'), `Bearer ${token}`).expect(200);
    expect(response.body).toMatchObject(admittedWith(null));
    expect(response.headers).not.toHaveProperty('www-authenticate');
  });

  it.each([null, ...NO_TOKEN, ...OTHER_SCHEMES])(
    'admits a request without a Bearer token as anonymous: %.20s',
    async (authorization) => {
      const { body } = await ask(await start('optional'), authorization).expect(200);
      expect(body).toMatchObject(admittedWith(null));
      expect(body.context).not.toHaveProperty('user');
    },
  );
});

describe('required', () => {
  it('passes all claims of a valid token to the handler', async () => {
    const { body } = await ask(await start('required'), `Bearer ${VALID}`).expect(200);
    expect(body.data).toEqual({ claims: CLAIMS, caller: CALLER, same: true });
    expect(Object.keys(body.data.claims).sort()).toEqual(['exp', 'iat', 'jti', 'sub', 'tokenType', 'user']);
    expect(body.context.user).toEqual({ id: CLAIMS.sub, username: 'Ada' });
  });

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  '])('accepts the scheme %s', async (scheme) => {
    const { body } = await ask(await start('required'), `${scheme} ${VALID}`).expect(200);
    expect(body).toMatchObject(admittedWith(CLAIMS));
  });

  it.each([null, '', ...NO_TOKEN, ...OTHER_SCHEMES])('answers AUTH_TOKEN_MISSING to %.20s', async (authorization) => {
    const response = await ask(await start('required'), authorization).expect(401);
    expect(response.body).toMatchObject({ success: false, code: 'AUTH_TOKEN_MISSING', details: null });
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(response.body.context).not.toHaveProperty('user');
  });

  it.each(INVALID)('answers AUTH_TOKEN_INVALID to a request %s', async (_what, token) => {
    const response = await ask(await start('required'), `Bearer ${token}`).expect(401);
    expect(response.body).toMatchObject({ success: false, code: 'AUTH_TOKEN_INVALID', details: null });
    expect(response.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(response.body.context).not.toHaveProperty('user');
  });

  it('accepts a token at each use until the second in which it expires, and never again', async () => {
    const moving = fixedClock(CLAIMS.exp * 1000 - 1);
    const app = await stageApp([guardedBy('required')], {
      authenticate: (accessToken) => tokens.verifyAccess(accessToken, moving.now()),
    });
    for (const _ of [1, 2]) await ask(app, `Bearer ${VALID}`).expect(200);
    moving.advance(1);
    for (const _ of [1, 2]) await ask(app, `Bearer ${VALID}`).expect(401);
  });
});

describe('a verification that throws', () => {
  it.each(['optional', 'required'] as const)('is answered 500 and admits nobody: %s', async (auth) => {
    const broken = async () => Promise.reject(new Error('no verifier'));
    const app = await stageApp([guardedBy(auth)], { authenticate: broken });
    const { body } = await ask(app, `Bearer ${VALID}`).expect(500);
    expect(body.code).toBe('SYS_UNEXPECTED_ERROR');
  });
});

describe('a route that requires a step-up', () => {
  const asked: unknown[] = [];
  const startWith = (missing: MissingStepUp | null) =>
    stageApp([probe(() => null, { auth: 'required', stepUp: { recent: 300_000, assurance: 'aal2-if-enrolled' } })], {
      authenticate,
      clock,
      assertSteppedUp: async (...given) => {
        asked.push(given);
        if (missing !== null) throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: missing });
      },
    });

  it('admits a session that has what it requires', async () => {
    asked.length = 0;
    await ask(await startWith(null), `Bearer ${VALID}`).expect(200);
    expect(asked).toEqual([[TOKEN, { recent: 300_000, assurance: 'aal2-if-enrolled' }]]);
  });

  it.each([
    [{ maxAge: 300_000 }, 'max_age=300'],
    [{ acr: 'aal2' }, 'acr_values="aal2"'],
  ] as const)('says what a session misses: %j (RFC 9470 §3)', async (missing, parameter) => {
    const response = await ask(await startWith(missing), `Bearer ${VALID}`).expect(401);
    expect(response.body).toMatchObject({ success: false, code: 'AUTH_STEP_UP_REQUIRED' });
    expect(response.headers['www-authenticate']).toBe(`Bearer error="insufficient_user_authentication", ${parameter}`);
  });

  it('refuses a token that is not valid before it reads the session', async () => {
    asked.length = 0;
    const app = await startWith(null);
    await ask(app, null).expect(401);
    await ask(app, 'Bearer garbage').expect(401);
    expect(asked).toEqual([]);
  });
});
