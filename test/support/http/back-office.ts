import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT } from 'jose';
import type { Scope } from '../../../src/domain/operator.ts';
import { publicPem } from '../../../src/infrastructure/keys.ts';
import type { TestService } from './service.ts';

export const OFFICE = 'https://office.example.org';

type Program = { readonly name: string; readonly scopes: readonly Scope[]; readonly privateKey: KeyObject };

const program = (name: string, ...scopes: Scope[]) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { name, scopes, privateKey, publicKey };
};

/** May do everything. */
export const SUPPORT = program('support', 'users:read', 'users:write');
export const READER = program('reader', 'users:read');
export const WRITER = program('writer', 'users:write');

const keyOf = ({ name, scopes, publicKey }: ReturnType<typeof program>) => ({
  name,
  scopes,
  publicKey: publicPem([publicKey]),
});

/** An environment with which the service has a back office that the three programs above may use, also to get links. */
export const WITH_OFFICE = {
  ADMIN_PORT: '9470',
  ADMIN_URL: OFFICE,
  RESET_LINK_HAND_OVER: 'on',
  ADMIN_KEYS: JSON.stringify([SUPPORT, READER, WRITER].map(keyOf)),
};

type Parts = { readonly header?: object; readonly claims?: object; readonly key?: KeyObject };

/** The signed assertion of a program for one request. @param given replaces parts of a valid assertion */
export const assertionOf = async ({ name, privateKey }: Program, { header, claims, key = privateKey }: Parts = {}) => {
  const exp = Math.floor(Date.now() / 1_000) + 60;
  return new SignJWT({ iss: name, sub: name, aud: OFFICE, exp, jti: randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: await calculateJwkThumbprint(privateKey), ...header })
    .sign(key);
};

type Method = 'get' | 'post' | 'put' | 'delete';

/** Sends a request of a program to the back office. */
export const ask = async (
  { office, ports }: Pick<TestService, 'office' | 'ports'>,
  method: Method,
  path: string,
  body?: object,
  by: Program = SUPPORT,
) => {
  const claims = { exp: Math.floor(ports.clock.now() / 1_000) + 60 };
  const request = office[method](path).auth(await assertionOf(by, { claims }), { type: 'bearer' });
  return body === undefined ? request : request.send(body);
};
