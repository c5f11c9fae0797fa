// Proves nist-3
import { beforeAll, describe, expect, it } from 'vitest';
import { authenticator } from '../support/authenticator.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { cookiePair, type TestService } from '../support/http/service.ts';

const ORIGIN = 'https://app.example.org';
const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
let service: TestService;
beforeAll(async () => {
  service = await start({ WEBAUTHN_RP_ID: 'example.org', ALLOWED_ORIGINS_DEV: ORIGIN }, () => ({ clock }));
});

const newKey = () => authenticator({ rpId: 'example.org', origin: ORIGIN });
type Key = ReturnType<typeof newKey>;
type Options = Parameters<Key['get']>[0];
type Credential = ReturnType<Key['get']>;

/** A user with an authenticator app and a passkey. */
const enrolled = async () => {
  const { person, user, accessToken } = await signUp(service);
  const post = (path: string, body: object = {}) =>
    service.http.post(path).set('Authorization', `Bearer ${accessToken}`).send(body);
  const { id, secret } = (await post('/users/me/factors/totp').expect(201)).body.data;
  await post('/users/me/factors/totp/confirm', { id, code: codeAt(secret, clock.now()) }).expect(200);
  const key = newKey();
  const options = (await post('/users/me/passkeys/options').expect(200)).body.data;
  await post('/users/me/passkeys', { credential: key.create(options) }).expect(201);
  const login = await service.http.post('/auth/login').send({ account: person.username, password: person.password });
  const pending = cookiePair(login.get('Set-Cookie')?.[0]);
  /** What is stored about the user. */
  const stored = async () => ({
    sessions: await service.ports.sessions.listByUser(user.id, clock.now()),
    passkeys: await service.ports.passkeys.listByUser(user.id),
    factors: await service.ports.factors.listByUser(user.id),
    codes: (await service.ports.factors.codesOf(user.id)).length,
  });
  const remove = (path: string) => service.http.delete(path).set('Authorization', `Bearer ${accessToken}`);
  return { key, post, remove, pending, stored };
};
type Enrolled = Awaited<ReturnType<typeof enrolled>>;

/** The routes that take an assertion. */
const PLACES: Readonly<Record<string, (user: Enrolled, body: object) => ReturnType<Enrolled['post']>>> = {
  '/auth/passkey': (_user, body) => service.http.post('/auth/passkey').send(body),
  '/auth/login/second-factor': ({ pending }, body) =>
    service.http.post('/auth/login/second-factor').set('Cookie', pending).send(body),
  '/auth/step-up': ({ post }, body) => post('/auth/step-up', body),
};

const withResponse = (credential: Credential, response: Partial<Credential['response']>) => ({
  ...credential,
  response: { ...credential.response, ...response },
});

type Bad = { readonly make: (key: Key, options: Options) => object; readonly answer: string };
const BAD: Readonly<Record<string, Bad>> = {
  'of another origin': {
    make: (key, options) => key.get(options, { origin: 'https://evil.test' }),
    answer: '401 AUTH_PASSKEY_INVALID',
  },
  'of another relying party': {
    make: (key, options) => key.get(options, { rpId: 'evil.test' }),
    answer: '401 AUTH_PASSKEY_INVALID',
  },
  'with truncated data of its authenticator': {
    make: (key, options) => {
      const credential = key.get(options);
      return withResponse(credential, { authenticatorData: credential.response.authenticatorData.slice(0, 20) });
    },
    answer: '401 AUTH_PASSKEY_INVALID',
  },
  'with CBOR that ends too soon after the data of its authenticator': {
    make: (key, options) => {
      const credential = key.get(options);
      const data = Buffer.from(credential.response.authenticatorData, 'base64url');
      // The flag that extensions follow, and a map of one entry, which is missing.
      data[32] = (data[32] ?? 0) | 0x80;
      const authenticatorData = Buffer.concat([data, Buffer.from([0xa1])]).toString('base64url');
      return withResponse(credential, { authenticatorData });
    },
    answer: '401 AUTH_PASSKEY_INVALID',
  },
  'that answers no challenge': {
    make: (key, options) => withResponse(key.get(options), { clientDataJSON: 'bnVsbA' }),
    answer: '401 AUTH_PASSKEY_INVALID',
  },
  'of a megabyte': {
    make: (key, options) => withResponse(key.get(options), { signature: 'A'.repeat(1_000_000) }),
    answer: '413 SYS_HTTP_UNEXPECTED_ERROR',
  },
  'that nobody has': {
    make: (_key, options) => newKey().get(options, { userHandle: 'b3RoZXI' }),
    answer: '404 DB_RECORD_NOT_FOUND',
  },
  'without a response': {
    make: () => ({ id: 'x', type: 'public-key' }),
    answer: '400 CLIENT_PARAMS_VALIDATION_FAILED',
  },
};

describe('a bad credential', () => {
  it.each(Object.entries(PLACES))(
    'is refused by POST %s with an error of the catalog, and changes nothing',
    async (_path, send) => {
      const user = await enrolled();
      const options = (await service.http.post('/auth/passkey/options').expect(200)).body.data;
      const before = await user.stored();
      for (const [what, { make, answer }] of Object.entries(BAD)) {
        const { status, body, headers } = await send(user, { credential: make(user.key, options) });
        expect([what, `${status} ${body.code}`]).toEqual([what, answer]);
        expect(headers).not.toHaveProperty('set-cookie');
        expect([what, await user.stored()]).toEqual([what, before]);
      }
      // Neither is the challenge used up, nor the log-in that waits.
      await send(user, { credential: user.key.get(options) }).expect(200);
    },
  );
});
