import { beforeAll, describe, expect, it } from 'vitest';
import { isDescribed, type Route } from '../../src/adapters/http/routing/define-route.ts';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { sampleBody, samplePath } from '../support/http/samples.ts';
import { declaredRoutes, type TestService } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();
let service: TestService;
beforeAll(async () => {
  service = await start(ALL_ROUTES);
});

type SignedUp = Awaited<ReturnType<typeof signUp>>;

/** A request that the route would serve, with the right password. */
const ask = (route: Route, { accessToken, person, user }: SignedUp) => {
  const { password } = person;
  const given = { password, currentPassword: password };
  const fields = Object.entries({ ...sampleBody(route), ...given }).filter(([name]) => name in sampleBody(route));
  const request = service.http[route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'](
    samplePath(route, user.id),
  ).set('Authorization', `Bearer ${accessToken}`);
  return fields.length === 0 ? request : request.send(Object.fromEntries(fields));
};

/** Pages know nobody by an access token: `pages/flow.test.ts`, `pages/page-cookies.test.ts`. */
const required = (await declaredRoutes()).filter((route) => route.auth === 'required' && isDescribed(route));
const logOut = ({ cookie }: SignedUp) => service.http.get('/auth/clear-cookie').set('Cookie', cookie).expect(200);
/** Without ending the sessions, as an operator's `disable` does. */
const disable = ({ user }: SignedUp) => service.ports.users.update(user.id, { disabledAt: 1, now: 1 });
const remove = ({ user }: SignedUp) => service.ports.users.remove(user.id);

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

  it('does not refuse the token of a live session', async () => {
    const { body } = await ask(route, await signUp(service));
    expect(body.code).not.toBe('AUTH_TOKEN_INVALID');
  });
});

describe('GET /auth/session', () => {
  it('says what is in the token, also after the end of its session', async () => {
    const ada = await signUp(service);
    await logOut(ada);
    const { body } = await service.http.get('/auth/session').set('Authorization', `Bearer ${ada.accessToken}`);
    expect(body.data).toStrictEqual({ authenticated: true, user: ada.user });
  });
});
