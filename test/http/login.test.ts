import type { Response } from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
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
import { head, openSocket, readToEnd } from '../support/http/raw-http.ts';
import { aPerson, refreshCookieOf, type TestService } from '../support/http/service.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const { start } = servicesOverOneDatabase();
let service: TestService;
let ada: Awaited<ReturnType<typeof signUp>>;
beforeAll(async () => {
  service = await start({}, () => ({ clock: fixedClock(NOW) }));
  ada = await signUp(service);
});

const logIn = (account: unknown, password: unknown = ada.person.password) =>
  service.http.post('/auth/login').send({ account, password });

/** A response without ids and times. */
const comparable = ({ status, headers, body }: Response) => {
  const { date: _date, 'svc-request-id': _id, ...rest } = headers;
  return {
    status,
    headers: rest,
    body: { ...body, timestamp: null, context: { ...body.context, requestId: null } },
  };
};

describe('POST /auth/login', () => {
  it('answers 200 with an access token and the user, in the success envelope', async () => {
    const response = await logIn(ada.person.username);
    expect(response.status).toBe(200);
    expect(response.body).toStrictEqual({
      success: true,
      data: { accessToken: expect.any(String), user: ada.user },
      timestamp: new Date(NOW).toISOString(),
      context: { requestId: response.get('svc-request-id'), version: VERSION },
    });
    expect(response.get('Cache-Control')).toBe('no-store');
  });

  it.each([
    ['username', () => ada.person.username],
    ['username in upper case', () => ada.person.username.toUpperCase()],
    ['username in lower case', () => ada.person.username.toLowerCase()],
    ['email', () => ada.person.email],
    ['email in upper case', () => ada.person.email.toUpperCase()],
  ])('finds the account by its %s', async (_title, account) => {
    const response = await logIn(account()).expect(200);
    expect(response.body.data.user).toEqual(ada.user);
  });

  it('signs the tokens and sets the cookie as registering does', async () => {
    const response = await logIn(ada.person.email).expect(200);
    const { accessToken, cookie } = heldFrom(response);
    const times = { iat: NOW / 1000, exp: NOW / 1000 + 900 };
    const jti = expect.stringMatching(ULID);
    expect(opened(accessToken).claims).toStrictEqual({
      ...times,
      sub: ada.user.id,
      jti,
      tokenType: 'access',
      user: ada.user,
    });
    expect(opened(tokenIn(cookie)).claims).toStrictEqual({
      iat: NOW / 1000,
      exp: NOW / 1000 + 604_800,
      sub: ada.user.id,
      jti,
      tokenType: 'refresh',
    });
    expect(response.get('Set-Cookie')).toHaveLength(1);
    expect(cookieAttributes(refreshCookieOf(response))).toStrictEqual({
      HttpOnly: true,
      Path: '/auth',
      SameSite: 'Lax',
      'Max-Age': '604800',
      Expires: expect.any(String),
    });
  });
});

describe('invalid credentials', () => {
  it('are refused, and set no cookie', async () => {
    const response = await logIn(ada.person.username, 'not the password');
    expect(response.status).toBe(401);
    expect(response.body).toMatchObject({ success: false, code: 'AUTH_CREDENTIALS_INVALID', details: null });
    expect(response.get('Set-Cookie')).toBeUndefined();
  });

  it('get the same response whether the password is wrong or the account unknown', async () => {
    const wrong = comparable(await logIn(ada.person.username, 'not the password'));
    expect(comparable(await logIn('nobody.at.all', 'not the password'))).toStrictEqual(wrong);
    expect(comparable(await logIn('nobody@example.org', 'not the password'))).toStrictEqual(wrong);
    expect(comparable(await logIn(ada.person.email, 'not the password'))).toStrictEqual(wrong);
  });

  it('get a response that differs in id and time only, byte by byte, whether the password is wrong or the account unknown', async () => {
    const rawResponseTo = async (account: string) => {
      const body = JSON.stringify({ account, password: 'not the password' });
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
        Connection: 'close',
      };
      const socket = openSocket(service.url);
      socket.write(head('POST /auth/login', headers) + body);
      const answer = await readToEnd(socket);
      const { requestId } = JSON.parse(answer.slice(answer.indexOf('{'))).context;
      return answer.replaceAll(requestId, '<id>').replace(/^Date: .*$/m, 'Date: …');
    };
    const wrong = await rawResponseTo(ada.person.username);
    expect(wrong).toContain('AUTH_CREDENTIALS_INVALID');
    expect(wrong.match(/<id>/g)).toHaveLength(2);
    for (const account of ['nobody.at.all', 'nobody@example.org', ada.person.email, 'x', "' or 1=1 --"]) {
      expect(await rawResponseTo(account)).toBe(wrong);
    }
  });

  it('include a password over 72 bytes that begins with the right password of 72 bytes', async () => {
    const { person } = await signUp(service, { ...aPerson(), password: 'p'.repeat(72) });
    const response = await logIn(person.username, `${person.password}!`);
    expect([response.status, response.body.code]).toEqual([401, 'AUTH_CREDENTIALS_INVALID']);
    await logIn(person.username, person.password).expect(200);
  });

  it.each([
    ['an account with a NUL', 'ada\0'],
    ['an email with a NUL', 'ada\0@example.org'],
    ['an account with half an emoji', 'ada\ud83e'],
    ['an account that is not a valid username', "' or 1=1 --"],
    ['an account of 254 characters', 'n'.repeat(254)],
  ])('include %s', async (_title, account) => {
    const response = await logIn(account);
    expect([response.status, response.body.code]).toEqual([401, 'AUTH_CREDENTIALS_INVALID']);
  });

  it.each([
    ['a NUL', 'nul\0 inside'],
    ['the right password and a NUL', 'correct horse battery\0'],
    ['half an emoji', 'half \ud83e emoji'],
    ['one character', 'x'],
  ])('include a password of %s', async (_title, password) => {
    const response = await logIn(ada.person.username, password);
    expect([response.status, response.body.code]).toEqual([401, 'AUTH_CREDENTIALS_INVALID']);
  });

  it('include a longer password with the same first 72 bytes', async () => {
    for (const shared of ['p'.repeat(72), '🔑'.repeat(18), `x${'é'.repeat(35)}y`]) {
      const { person } = await signUp(service, { ...aPerson(), password: shared });
      for (const ending of ['!', '\0', shared]) {
        await service.http
          .post('/auth/register')
          .send({ ...aPerson(), password: shared + ending })
          .expect(400);
        await logIn(person.username, shared + ending).expect(401);
      }
      await logIn(person.username, shared).expect(200);
    }
  });

  it.each([
    ['composed and decomposed', 'crème brûlée'.normalize('NFC'), 'crème brûlée'.normalize('NFD')],
    ['decomposed and composed', 'crème brûlée'.normalize('NFD'), 'crème brûlée'.normalize('NFC')],
    ['full-width and ordinary letters', 'ｐａｓｓｐｈｒａｓｅ', 'passphrase'],
    ['an emoji and its parts', '👩‍🚀 to the moon', '👩🚀 to the moon'],
    ['an emoji in two skin tones', '👍🏽👍🏽👍🏽👍🏽', '👍🏿👍🏿👍🏿👍🏿'],
    ['right-to-left text with and without a mark', '\u200fסיסמה ארוכה', 'סיסמה ארוכה'],
    ['right-to-left text with and without vowels', 'كَلِمَةُ السِّرّ', 'كلمة السر'],
    ['lookalike letters of two scripts', 'сорока-ворона', 'copoka-вopoнa'],
  ])('include a password that resembles the right one: %s', async (_title, password, other) => {
    const { person } = await signUp(service, { ...aPerson(), password });
    await logIn(person.username, other).expect(401);
    await logIn(person.username, password).expect(200);
  });

  it('include a password in another letter case or with spaces around it', async () => {
    await logIn(ada.person.username, ada.person.password.toUpperCase()).expect(401);
    await logIn(ada.person.username, ` ${ada.person.password} `).expect(401);
  });
});

describe('a malformed log-in', () => {
  it.each([
    ['an empty account', { account: '' }, 'account', 'required'],
    ['an account of 255 characters', { account: 'n'.repeat(255) }, 'account', 'too_long'],
    ['an account that is an object', { account: { $ne: null } }, 'account', 'invalid_type'],
    ['no account', { account: undefined }, 'account', 'required'],
    ['an empty password', { password: '' }, 'password', 'required'],
    ['a password that is true', { password: true }, 'password', 'invalid_type'],
    ['no password', { password: undefined }, 'password', 'required'],
  ])('is refused: %s', async (_title, fields, field, code) => {
    const response = await service.http.post('/auth/login').send({ account: 'ada', password: 'x', ...fields });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ success: false, code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
    expect(response.body.details).toStrictEqual([{ field, message: expect.any(String), code }]);
  });
});
