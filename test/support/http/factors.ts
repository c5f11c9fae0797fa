import type { authenticator } from '../authenticator.ts';
import { codeAt } from '../authenticator-app.ts';
import type { fixedClock } from '../fixed-clock.ts';
import type { TestService } from './service.ts';

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** Returns a function that sends requests with an access token. */
export const requestsWith =
  (accessToken: string, { http }: Pick<TestService, 'http'>) =>
  (method: Method, path: string, body?: object) => {
    const request = http[method](path).set('Authorization', `Bearer ${accessToken}`);
    return body === undefined ? request : request.send(body);
  };
type Me = ReturnType<typeof requestsWith>;

/** Adds an authenticator app, and advances the clock so that the app's next code differs. */
export const addApp = async (me: Me, clock: ReturnType<typeof fixedClock>) => {
  const { id, secret } = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
  const shown = { id, code: codeAt(secret, clock.now()) };
  const { body } = await me('post', '/users/me/factors/totp/confirm', shown).expect(200);
  clock.advance(30_000);
  return { id, secret, recoveryCodes: body.data.recoveryCodes };
};

/** Adds a passkey. @returns the data of the answer, which may contain recovery codes */
export const addPasskey = async (me: Me, key: Pick<ReturnType<typeof authenticator>, 'create'>) => {
  const options = (await me('post', '/users/me/passkeys/options').expect(200)).body.data;
  return (await me('post', '/users/me/passkeys', { credential: key.create(options) }).expect(201)).body.data;
};
