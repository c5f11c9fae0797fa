// Proves nist-1

import { describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { cookieAttributes, decode, servicesOverOneDatabase, signUp, tokensOf } from '../support/http/auth-http.ts';
import { addApp, requestsWith } from '../support/http/factors.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const STEP = 30_000;
const env = { JWT_AUTHENTICATION_CLAIMS: 'true', JWT_REFRESH_EXPIRES_IN: '60d', SESSION_MAX_LIFETIME: 'off' };
const service = await start(env, () => ({ clock, attempts: countAttempts(memoryCounts({ now: clock.now }), clock) }));

const as = (accessToken: string) => requestsWith(accessToken, service);

/** A user with an authenticator app. */
const enrolled = async () => {
  const held = await signUp(service);
  return { ...held, ...(await addApp(as(held.accessToken), clock)) };
};

type Person = { readonly username: string; readonly password: string };
type Enrolled = { readonly person: Person; readonly secret: string };

const cookieOf = (setCookies: readonly string[] | undefined, name: string): string | undefined =>
  setCookies?.find((each) => each.startsWith(`${name}=`));
const pairOf = (setCookie = ''): string => setCookie.split(';')[0] ?? '';

const logIn = ({ username, password }: Person, cookies: readonly string[] = [], headers: Record<string, string> = {}) =>
  service.http
    .post('/auth/login')
    .set({ ...headers, ...(cookies.length > 0 && { Cookie: cookies.join('; ') }) })
    .send({ account: username, password });

/** Logs in with a code. @returns the response, and the cookie of the device if it is remembered. */
const logInWithCode = async ({ person, secret }: Enrolled, body: object) => {
  const refused = await logIn(person).expect(401);
  const pending = pairOf(cookieOf(refused.get('Set-Cookie'), 'login_pending'));
  const response = await service.http
    .post('/auth/login/second-factor')
    .set('Cookie', pending)
    .send({ code: codeAt(secret, clock.now()), ...body })
    .expect(200);
  clock.advance(STEP);
  const setCookie = cookieOf(response.get('Set-Cookie'), 'remembered_device');
  return { response, setCookie, device: pairOf(setCookie) };
};

const listed = async (accessToken: string) =>
  (await as(accessToken)('get', '/auth/sessions').expect(200)).body.data.filter(
    ({ remembered }: { remembered: boolean }) => remembered,
  );

describe('a remembered device', () => {
  it('is remembered if the user asks for it alone', async () => {
    const ada = await enrolled();
    for (const body of [{}, { remember: false }]) {
      const { setCookie } = await logInWithCode(ada, body);
      expect(setCookie).toBeUndefined();
    }
    const { setCookie } = await logInWithCode(ada, { remember: true });
    expect(cookieAttributes(setCookie)).toMatchObject({ HttpOnly: true, Path: '/auth', 'Max-Age': '2592000' });
    const { code, details } = (
      await service.http.post('/auth/login/second-factor').send({ code: '123456', remember: 'yes' }).expect(400)
    ).body;
    expect({ code, details }).toMatchObject({
      code: 'CLIENT_PARAMS_VALIDATION_FAILED',
      details: [{ field: 'remember' }],
    });
  });

  it('is no factor: the session has shown the password, and a step-up needs a code', async () => {
    const ada = await enrolled();
    const { device } = await logInWithCode(ada, { remember: true });
    const { accessToken } = (await logIn(ada.person, [device]).expect(200)).body.data;
    expect(decode(accessToken).claims).toMatchObject({ amr: ['pwd'], acr: 'aal1' });
    const me = as(accessToken);
    const response = await me('get', '/users/me/factors').expect(401);
    expect(response.body.code).toBe('AUTH_STEP_UP_REQUIRED');
    expect(response.get('WWW-Authenticate')).toContain('acr_values="aal2"');
    const stepUp = (body: object) =>
      service.http
        .post('/auth/step-up')
        .set({ Authorization: `Bearer ${accessToken}`, Cookie: device })
        .send(body);
    const raised = await stepUp({ password: ada.person.password }).expect(200);
    expect((await as(raised.body.data.accessToken)('get', '/users/me/factors').expect(401)).body.code).toBe(
      'AUTH_STEP_UP_REQUIRED',
    );
    const shown = await stepUp({ code: codeAt(ada.secret, clock.now()) }).expect(200);
    await as(shown.body.data.accessToken)('get', '/users/me/factors').expect(200);
  });

  it('is of its user alone, unchanged, and not sent by another site', async () => {
    const [ada, bob] = [await enrolled(), await enrolled()];
    const { device } = await logInWithCode(ada, { remember: true });
    const changed = device.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    await logIn(bob.person, [device]).expect(401);
    await logIn(ada.person, [changed]).expect(401);
    await logIn(ada.person, [device], { 'Sec-Fetch-Site': 'cross-site' }).expect(401);
    await logIn(ada.person, [changed, device]).expect(200);
  });

  it('is replaced when it is remembered again', async () => {
    const ada = await enrolled();
    const { device: former } = await logInWithCode(ada, { remember: true });
    const { response: other } = await logInWithCode(ada, { remember: true });
    const pending = pairOf(cookieOf((await logIn(ada.person).expect(401)).get('Set-Cookie'), 'login_pending'));
    const again = await service.http
      .post('/auth/login/second-factor')
      .set('Cookie', `${pending}; ${former}`)
      .send({ code: codeAt(ada.secret, clock.now()), remember: true })
      .expect(200);
    const device = pairOf(cookieOf(again.get('Set-Cookie'), 'remembered_device'));
    expect(await listed(tokensOf(other).accessToken)).toHaveLength(2);
    await logIn(ada.person, [former]).expect(401);
    await logIn(ada.person, [device]).expect(200);
  });
});
