import { joseDeviceKey } from '../jose-proofs.ts';
import { tokensOf } from './auth-http.ts';
import { aPerson, type TestService } from './service.ts';

/** Registers a user with a proof of a device's key, so that the session is bound to the key. */
export const boundUser = async ({ http, ports }: TestService) => {
  const [key, person] = [await joseDeviceKey(), aPerson()];
  const proof = await key.proof({ htu: 'https://auth.example.org/auth/register', now: ports.clock.now() });
  const response = await http
    .post('/auth/register')
    .send({ ...person, proof })
    .expect(201);
  return { key, person, response, user: response.body.data.user, ...tokensOf(response) };
};
