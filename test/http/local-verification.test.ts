// Proves SPEC 1.4, 3.1, 4.1, 13.5, 13.9, 15.3, 15.4, 15.5, 15.6
import { verify } from 'node:crypto';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { compose, type RunningService } from '../../src/infrastructure/compose.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { listen } from '../../src/infrastructure/http-server/server.ts';
import { heldFrom, tampered, tokenIn } from '../support/http/auth-http.ts';
import { aPerson, hasher } from '../support/http/service.ts';
import { watched } from '../support/openapi/watched.ts';
import { PRODUCTION } from '../support/processes/environments.ts';
import { silentLogger } from '../support/silent-logger.ts';

/** SPEC "Key configuration": the four keys come from the environment, as PEM. */
const ENV = { ...PRODUCTION, NODE_ENV: 'test', PORT: '0' };
const { JWT_ACCESS_PUBLIC_KEY: ACCESS = '', JWT_REFRESH_PUBLIC_KEY: REFRESH = '' }: Record<string, string> = ENV;

/** Verification by a third party with the public key alone: RFC 7515 §5.2, RFC 7518 §3.4. */
const isSignedWith = (publicKey: string, token: string): boolean => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  return (
    alg === 'ES256' && verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))
  );
};

describe('the public keys of the environment', () => {
  let service: RunningService;
  let server: Awaited<ReturnType<typeof listen>>;
  let answers: ReturnType<typeof watched>;
  let pairs: { readonly access: string; readonly refresh: string }[];
  beforeAll(async () => {
    const config = parseConfig(ENV);
    service = await compose(config, silentLogger, {
      storage: memoryStorage(),
      ports: { hasher },
    });
    answers = watched(service.http, service.routes);
    server = await listen(answers.handlers, config);

    const http = request(`http://127.0.0.1:${server.address.port}`);
    const person = aPerson();
    const registered = await http.post('/auth/register').send(person).expect(201);
    const loggedIn = await http
      .post('/auth/login')
      .send({ account: person.email, password: person.password })
      .expect(200);
    const refreshed = await http.post('/auth/refresh-token').set('Cookie', heldFrom(loggedIn).cookie).expect(200);
    pairs = [registered, loggedIn, refreshed]
      .map(heldFrom)
      .map(({ accessToken, cookie }) => ({ access: accessToken, refresh: tokenIn(cookie) }));
  });
  afterAll(async () => {
    await server.close();
    answers.assertDocumented();
    await service.close();
  });

  it('verify the tokens that register, log-in and refresh issue, each key its own kind', () => {
    for (const { access, refresh } of pairs) {
      expect([isSignedWith(ACCESS, access), isSignedWith(REFRESH, refresh)]).toEqual([true, true]);
      expect([isSignedWith(REFRESH, access), isSignedWith(ACCESS, refresh)]).toEqual([false, false]);
    }
    expect(pairs).toHaveLength(3);
  });

  it('do not verify changed tokens', () => {
    for (const { access, refresh } of pairs) {
      expect([isSignedWith(ACCESS, tampered(access)), isSignedWith(REFRESH, tampered(refresh))]).toEqual([
        false,
        false,
      ]);
    }
  });
});
