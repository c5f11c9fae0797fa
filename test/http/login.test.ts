// Proves SPEC 1.2, 1.5, 1.6, 2.2, 2.3, 8.2, 9.2, 9.8, 9.9, 9.10, 9.11, 11.4, 11.6, 20.4; ASVS 6.2.8; network-8
import { describe, expect, it } from 'vitest';
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
import { aPerson, refreshCookieOf } from '../support/http/service.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const { start } = servicesOverOneDatabase();
const service = await start({}, () => ({ clock: fixedClock(NOW) }));
const ada = await signUp(service);

const logIn = (account: unknown, password: unknown = ada.person.password) =>
  service.http.post('/auth/login').send({ account, password });

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
    for (const account of ['nobody.at.all', 'nobody@example.org', ada.person.email, 'x', "' or 1=1 --", 'ada\0']) {
      expect(await rawResponseTo(account)).toBe(wrong);
    }
  });

  it('include a password that differs in letter case, blanks or form: it is never changed', async () => {
    const { person } = await signUp(service, { ...aPerson(), password: ' １２３ ４５６ a-\u200b ' });
    for (const other of ['toUpperCase', 'trim', 'normalize'] as const)
      await logIn(
        person.username,
        other === 'normalize' ? person.password.normalize('NFKC') : person.password[other](),
      ).expect(401);
    await logIn(person.username, person.password).expect(200);
  });
});

describe('a malformed log-in', () => {
  it('has an account of more than 254 characters, and is no wrong password', async () => {
    await logIn('n'.repeat(254)).expect(401);
    const { body } = await logIn('n'.repeat(255)).expect(400);
    expect(body).toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
    expect(body.details).toStrictEqual([{ field: 'account', message: expect.any(String), code: 'too_long' }]);
  });
});
