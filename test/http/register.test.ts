import { beforeAll, describe, expect, it } from 'vitest';
import { isCommonPassword } from '../../src/adapters/crypto/common-passwords.ts';
import { AppError, duplicateUser } from '../../src/domain/errors/app-error.ts';
import { VERSION } from '../../src/infrastructure/version.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import {
  cookieAttributes,
  heldFrom,
  opened,
  servicesOverOneDatabase,
  signUp,
  tokenIn,
  ULID,
} from '../support/http/auth-http.ts';
import { aPerson, refreshCookieOf, type TestService } from '../support/http/service.ts';

/** Not a whole second, so that times in seconds have to be rounded. */
const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 750);
const NOW_ISO = '2026-01-01T12:00:00.750Z';
const NOW_SECONDS = Math.floor(NOW / 1000);

const { start } = servicesOverOneDatabase();
let service: TestService;
beforeAll(async () => {
  service = await start({}, () => ({ clock: fixedClock(NOW) }));
});

const register = (body: object) => service.http.post('/auth/register').send(body);

describe('POST /auth/register', () => {
  it('answers 201 with an access token and the user, in the success envelope', async () => {
    const person = aPerson();
    const response = await register(person);
    expect(response.status).toBe(201);
    expect(response.body).toStrictEqual({
      success: true,
      data: {
        accessToken: expect.any(String),
        user: {
          id: expect.stringMatching(ULID),
          username: person.username,
          email: person.email,
          createdAt: NOW_ISO,
          updatedAt: NOW_ISO,
        },
      },
      timestamp: NOW_ISO,
      context: { requestId: response.get('svc-request-id'), version: VERSION },
    });
    expect(response.body.context.requestId).toMatch(ULID);
    expect(response.get('Cache-Control')).toBe('no-store');
  });

  it('returns the username unchanged', async () => {
    const { user } = await signUp(service, { ...aPerson(), username: 'Grace_M.Hopper-1906' });
    expect(user.username).toBe('Grace_M.Hopper-1906');
  });

  it('trims the email and converts it to lower case, in the response, the token and the database', async () => {
    const person = { ...aPerson(), email: '  Ada.Lovelace@Example.ORG\t' };
    const { user, accessToken } = await signUp(service, person);
    expect(user.email).toBe('ada.lovelace@example.org');
    expect(opened(accessToken).claims).toMatchObject({ user: { email: 'ada.lovelace@example.org' } });
    expect(await service.ports.users.findById(user.id)).toMatchObject({ email: 'ada.lovelace@example.org' });
  });

  it('ignores unknown members of the body', async () => {
    const person = aPerson();
    const id = '01J00000000000000000000000';
    const more = { ...person, id, role: 'admin', passwordHash: 'x' };
    const { user } = await signUp(service, more);
    expect(Object.keys(user).sort()).toEqual(['createdAt', 'email', 'id', 'updatedAt', 'username']);
    expect(user.id).not.toBe(id);
    const stored = await service.ports.users.findById(user.id);
    expect(stored?.passwordHash).toMatch(/^\$2b\$/);
  });

  it('keeps the password unchanged, including spaces', async () => {
    const { person } = await signUp(service, { ...aPerson(), password: '  spaced  out  ' });
    const logIn = (password: string) => service.http.post('/auth/login').send({ account: person.username, password });
    expect((await logIn('  spaced  out  ')).status).toBe(200);
    expect((await logIn('spaced  out')).status).toBe(401);
  });

  it('registers nobody and sets no cookie when the database fails', async () => {
    const broken = await start({}, ({ users }) => ({
      users: { ...users, add: () => Promise.reject(new AppError('DB_QUERY_FAILED')) },
    }));
    const response = await broken.http.post('/auth/register').send(aPerson());
    expect(response.status).toBe(500);
    expect(response.body.code).toBe('DB_QUERY_FAILED');
    expect(response.get('Set-Cookie')).toBeUndefined();
  });
});

describe('the access token', () => {
  it('contains exactly the specified claims, and is valid for 15 minutes', async () => {
    const { user, accessToken } = await signUp(service);
    const { header, claims } = opened(accessToken);
    expect(claims).toStrictEqual({
      sub: user.id,
      iat: NOW_SECONDS,
      exp: NOW_SECONDS + 15 * 60,
      jti: expect.stringMatching(ULID),
      tokenType: 'access',
      user,
    });
    expect(header).toStrictEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: expect.any(String),
      sid: expect.stringMatching(ULID),
    });
  });

  it('is valid for JWT_ACCESS_EXPIRES_IN', async () => {
    const { claims } = opened((await signUp(await start({ JWT_ACCESS_EXPIRES_IN: '90s' }))).accessToken);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(90);
  });
});

describe('the refresh token', () => {
  it('contains exactly the specified claims, no data of the user, and is valid for 7 days', async () => {
    const { user, accessToken, cookie } = await signUp(service);
    const { header, claims } = opened(tokenIn(cookie));
    expect(claims).toStrictEqual({
      sub: user.id,
      iat: NOW_SECONDS,
      exp: NOW_SECONDS + 7 * 24 * 3600,
      jti: expect.stringMatching(ULID),
      tokenType: 'refresh',
    });
    expect(header).toStrictEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: expect.any(String),
      sid: expect.stringMatching(ULID),
      rot: 0,
    });
    const access = opened(accessToken);
    expect(claims.jti).not.toBe(access.claims.jti);
    expect(header.kid).not.toBe(access.header.kid);
  });

  it('is valid for JWT_REFRESH_EXPIRES_IN', async () => {
    const { claims } = opened(tokenIn((await signUp(await start({ JWT_REFRESH_EXPIRES_IN: '30d' }))).cookie));
    expect(Number(claims.exp) - Number(claims.iat)).toBe(30 * 24 * 3600);
  });

  it('is sent only in the cookie', async () => {
    const response = await register(aPerson()).expect(201);
    expect(response.text).not.toContain(tokenIn(heldFrom(response).cookie));
  });
});

describe('the refresh cookie', () => {
  const DEFAULTS = {
    HttpOnly: true,
    Path: '/auth',
    SameSite: 'Lax',
    'Max-Age': '604800',
    Expires: expect.any(String),
  };

  it('is HttpOnly, for /auth, SameSite=Lax, for 7 days and not Secure by default', async () => {
    const before = Date.now();
    const response = await register(aPerson()).expect(201);
    const after = Date.now();
    expect(response.get('Set-Cookie')).toHaveLength(1);
    const attributes = cookieAttributes(refreshCookieOf(response));
    expect(attributes).toStrictEqual(DEFAULTS);
    // Expires has whole seconds.
    const expires = Date.parse(String(attributes.Expires));
    expect(expires).toBeGreaterThanOrEqual(Math.floor((before + 604_800_000) / 1000) * 1000);
    expect(expires).toBeLessThanOrEqual(after + 604_800_000);
  });

  it.each([
    [{ JWT_REFRESH_COOKIE_PATH: '/' }, { Path: '/' }],
    [{ JWT_REFRESH_COOKIE_PATH: '/api/v1/auth', BASE_URL: 'https://example.org/api/v1' }, { Path: '/api/v1/auth' }],
    [{ BASE_URL: 'https://example.org/api/v1' }, { Path: '/api/v1/auth' }],
    [{ JWT_REFRESH_COOKIE_SAME_SITE: 'strict' }, { SameSite: 'Strict' }],
    [
      { JWT_REFRESH_COOKIE_SAME_SITE: 'none', JWT_REFRESH_COOKIE_SECURE: 'true' },
      { SameSite: 'None', Secure: true },
    ],
    [{ JWT_REFRESH_COOKIE_SECURE: 'true' }, { Secure: true }],
    [{ JWT_REFRESH_COOKIE_MAX_AGE_MS: '3600000' }, { 'Max-Age': '3600' }],
    [{ JWT_REFRESH_COOKIE_MAX_AGE_MS: '1999' }, { 'Max-Age': '1' }],
  ])('follows the configuration: %o', async (env, attributes) => {
    const { http } = await start(env);
    const response = await http.post('/auth/register').send(aPerson()).expect(201);
    expect(cookieAttributes(refreshCookieOf(response))).toStrictEqual({ ...DEFAULTS, ...attributes });
  });
});

describe('a second registration', () => {
  it.each<[title: string, same: (taken: ReturnType<typeof aPerson>) => object]>([
    ['with the username', ({ username }) => ({ username })],
    ['with the username in another letter case', ({ username }) => ({ username: username.toUpperCase() })],
    ['with the email', ({ email }) => ({ email })],
    [
      'with the email in another letter case and with spaces around it',
      ({ email }) => ({ email: ` ${email.toUpperCase()} ` }),
    ],
    ['with both', ({ username, email }) => ({ username, email })],
  ])('%s is refused', async (_title, same) => {
    const { person } = await signUp(service);
    const response = await register({ ...aPerson(), ...same(person) });
    expect(response.status).toBe(409);
    expect(response.body).toMatchObject({ success: false, code: 'AUTH_USER_DUPLICATE', details: null });
    expect(response.get('Set-Cookie')).toBeUndefined();
  });

  it('gets a response that says whether the username or the email is taken', async () => {
    const { person } = await signUp(service);
    for (const taken of ['username', 'email'] as const) {
      const { body } = await register({ ...aPerson(), [taken]: person[taken] });
      expect(body.message).toBe(duplicateUser(taken).message);
    }
  });
});

const long = (length: number) => `long.${'n'.repeat(length - 5)}`;
const longEmail = (length: number) => {
  const local = 'l'.repeat(64);
  const domain = `${'a'.repeat(63)}.${'b'.repeat(63)}.`;
  return `${local}@${domain}${'c'.repeat(length - local.length - 1 - domain.length - 4)}.org`;
};

describe('the limits of a field', () => {
  it.each([
    ['a username of 3 characters', { username: 'a-1' }],
    ['a username of 32 characters', { username: long(32) }],
    ['a username with one character more than an id', { username: `1${'a'.repeat(26)}` }],
    ['a username of 26 characters that is no id', { username: `8${'a'.repeat(25)}` }],
    ['an email of 254 characters', { email: longEmail(254) }],
    ['a password of 8 characters', { password: '12345678' }],
    ['a password of 8 emoji', { password: '🦊'.repeat(8) }],
    ['a password of 72 bytes', { password: 'p'.repeat(72) }],
    ['a password of 18 emoji, 72 bytes', { password: '🦊'.repeat(18) }],
  ])('accept %s, which can then log in', async (_title, field) => {
    const { person } = await signUp(service, { ...aPerson(), ...field });
    for (const account of [person.username, person.email]) {
      await service.http.post('/auth/login').send({ account, password: person.password }).expect(200);
    }
  });

  it.each([
    ['a username of 2 characters', { username: 'ab' }, 'username', 'too_short'],
    ['a username of 33 characters', { username: long(33) }, 'username', 'too_long'],
    ['a username with an @', { username: 'a@b' }, 'username', 'invalid_format'],
    ['a username with a space', { username: 'a b c' }, 'username', 'invalid_format'],
    ['a username of the form of an id', { username: '01M805M0DQRNB7PKSRES70K5MB' }, 'username', 'invalid_format'],
    ['the same in lower case', { username: '01m805m0dqrnb7pksres70k5mb' }, 'username', 'invalid_format'],
    ['a username of non-ASCII letters', { username: 'ådaß' }, 'username', 'invalid_format'],
    ['an email of 255 characters', { email: longEmail(255) }, 'email', 'too_long'],
    ['an email without a domain', { email: 'ada@' }, 'email', 'invalid_format'],
    ['an email that is empty', { email: '   ' }, 'email', 'required'],
    ['a username that is empty', { username: '' }, 'username', 'required'],
    ['a password that is empty', { password: '' }, 'password', 'required'],
    ['a password of 7 characters', { password: '1234567' }, 'password', 'too_short'],
    ['a password of 7 emoji, 14 UTF-16 units', { password: '🦊'.repeat(7) }, 'password', 'too_short'],
    ['a password of 73 bytes', { password: 'p'.repeat(73) }, 'password', 'too_long'],
    ['a password of 19 emoji, 76 bytes', { password: '🦊'.repeat(19) }, 'password', 'too_long'],
    ['a password with a NUL', { password: 'nul\0 inside' }, 'password', 'invalid_characters'],
    ['a password with half an emoji', { password: 'half \ud83e emoji' }, 'password', 'invalid_characters'],
    ['a username that is a number', { username: 12345 }, 'username', 'invalid_type'],
    ['an email that is null', { email: null }, 'email', 'invalid_type'],
    ['a password in a list', { password: ['correct horse'] }, 'password', 'invalid_type'],
    ['no username', { username: undefined }, 'username', 'required'],
    ['no email', { email: undefined }, 'email', 'required'],
    ['no password', { password: undefined }, 'password', 'required'],
  ])('refuse %s', async (_title, fields, field, code) => {
    const response = await register({ ...aPerson(), ...fields });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ success: false, code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
    expect(response.body.details).toStrictEqual([{ field, message: expect.any(String), code }]);
    expect(response.get('Set-Cookie')).toBeUndefined();
  });

  it('refuse a password that is guessed first when the blocklist is on', async () => {
    const { http } = await start({}, () => ({ isCommonPassword }));
    const person = aPerson();
    const owned = [person.username, person.email.toUpperCase(), 'person.of.many'];
    for (const password of ['password1', 'QwertyUiop', ...owned]) {
      const email = password === 'person.of.many' ? 'person.of.many@example.org' : person.email;
      const response = await http.post('/auth/register').send({ ...person, email, password });
      expect([response.status, response.body.code]).toEqual([400, 'CLIENT_PARAMS_VALIDATION_FAILED']);
      expect(response.body.details).toStrictEqual([
        {
          field: 'password',
          message: 'must not be a common password, your username, your email address or its part before the @',
          code: 'too_common',
        },
      ]);
    }
    await http.post('/auth/register').send(person).expect(201);
    await register({ ...aPerson(), password: 'password1' }).expect(201);
  });

  it('are reported for all fields at once', async () => {
    const response = await register({ username: 'x', email: 'x', password: 'x' }).expect(400);
    expect(response.body.details.map(({ field }: { field: string }) => field)).toEqual(
      expect.arrayContaining(['username', 'email', 'password']),
    );
  });
});
