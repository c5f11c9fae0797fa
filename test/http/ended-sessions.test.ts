// Proves SPEC 20.11; ASVS 7.4.1, 7.4.2, 7.5.1, 7.5.3, 8.2.1, 10.3.4; theft-2, nist-10
import { describe, expect, it } from 'vitest';
import { isDescribed, type Route } from '../../src/adapters/http/routing/define-route.ts';
import { MINUTE } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { sampleBody, samplePath } from '../support/http/samples.ts';
import { declaredRoutes } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start(ALL_ROUTES, () => ({ clock }));

type SignedUp = Awaited<ReturnType<typeof signUp>>;

const requestTo = (route: Route, id = 'sample') =>
  service.http[route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'](samplePath(route, id));

/** A request that the route would serve, with the right password. */
const ask = (route: Route, { accessToken, person, user }: SignedUp) => {
  const { password } = person;
  const given = { password, currentPassword: password };
  const fields = Object.entries({ ...sampleBody(route), ...given }).filter(([name]) => name in sampleBody(route));
  const request = requestTo(route, user.id).set('Authorization', `Bearer ${accessToken}`);
  return fields.length === 0 ? request : request.send(Object.fromEntries(fields));
};

/** Pages know nobody by an access token: `pages/flow.test.ts`, `pages/page-cookies.test.ts`. */
const described = (await declaredRoutes()).filter(isDescribed);
const required = described.filter(({ auth }) => auth === 'required');
const logOut = ({ cookie }: SignedUp) => service.http.get('/auth/clear-cookie').set('Cookie', cookie).expect(200);
/** Without ending the sessions, as an operator's `disable` does. */
const disable = ({ user }: SignedUp) => service.ports.users.update(user.id, { disabledAt: 1, now: 1 });
const remove = ({ user }: SignedUp) => service.ports.users.remove(user.id);

it('routes about a user require a token, and those about sessions, factors and the account a recent log-in unless they are listed here', () => {
  const ofUsers = described.filter(({ path }) => /^\/(users\/me|auth\/sessions|auth\/gateway)/.test(path));
  expect(ofUsers.filter(({ auth }) => auth !== 'required')).toEqual([]);
  expect(
    required
      // A route of the tag `users` says itself that it needs none.
      .filter(({ stepUp, tag }) => (tag === 'users' ? stepUp === undefined : stepUp?.recent === undefined))
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(
    [
      ...['identities', 'sessions', 'gateway', 'step-up', 'events'],
      // These take the password, or a code by mail.
      ...['change-password', 'delete-account', 'request-confirmation-code', 'change-email'],
    ].toSorted(),
  );
});

describe.each(required.map((route) => ({ route })))('$route.name', ({ route }) => {
  it.each([
    ['AUTH_TOKEN_INVALID', 'whose session was logged out', logOut],
    ['AUTH_TOKEN_INVALID', 'whose account is disabled', disable],
    ['DB_RECORD_NOT_FOUND', 'whose user was deleted', remove],
  ])('answers %s to an access token %s, and changes nothing', async (usual, _what, end) => {
    // Gateways take 404 for a failure.
    const code = route.name === 'gateway' ? 'AUTH_TOKEN_INVALID' : usual;
    const ada = await signUp(service);
    await end(ada);
    const before = await service.ports.users.findById(ada.user.id);
    const response = await ask(route, ada);
    expect(response.body).toMatchObject({ success: false, code });
    expect(response.get('WWW-Authenticate')).toBe(
      code === 'AUTH_TOKEN_INVALID' ? 'Bearer error="invalid_token"' : undefined,
    );
    expect('user' in response.body.context).toBe(code !== 'AUTH_TOKEN_INVALID');
    expect(await service.ports.users.findById(ada.user.id)).toEqual(before);
  });

  it.each([
    ['AUTH_TOKEN_MISSING', 'a request without one', {}],
    ['AUTH_TOKEN_INVALID', 'a token that is none', { Authorization: 'Bearer a.b.c' }],
  ])('answers %s to %s, whatever its cookie', async (code, _what, headers) => {
    const { cookie } = await signUp(service);
    const { body } = await requestTo(route).set({ ...headers, Cookie: cookie });
    expect(body).toMatchObject({ success: false, code });
  });

  it('does not refuse the token of a live session', async () => {
    const { body } = await ask(route, await signUp(service));
    expect(body.code).not.toBe('AUTH_TOKEN_INVALID');
  });
});

describe.each(required.filter(({ stepUp }) => stepUp).map((route) => ({ route })))('$route.name', ({ route }) => {
  it('asks for what the session has not shown, or not recently', async () => {
    const ada = await signUp(service);
    await service.ports.users.update(ada.user.id, { secondFactorAt: 1, now: 1 });
    clock.advance(5 * MINUTE);
    const { body, headers } = await ask(route, ada);
    expect(body).toMatchObject({ success: false, code: 'AUTH_STEP_UP_REQUIRED' });
    const { recent, assurance } = route.stepUp ?? {};
    expect(headers['www-authenticate']?.includes('max_age=300')).toBe(recent !== undefined);
    expect(headers['www-authenticate']?.includes('acr_values="aal2"')).toBe(assurance !== undefined);
  });
});

it('GET /auth/session says what is in the token, until its session has ended', async () => {
  const ada = await signUp(service);
  const ask = async () =>
    (await service.http.get('/auth/session').set('Authorization', `Bearer ${ada.accessToken}`).expect(200)).body.data;
  expect(await ask()).toStrictEqual({ authenticated: true, user: ada.user });
  await logOut(ada);
  await expect.poll(ask, { timeout: 10_000 }).toStrictEqual({ authenticated: false, user: null });
});
