import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, tokensOf } from '../support/http/auth-http.ts';
import { boundUser } from '../support/http/bound-user.ts';
import { exchangeRaw } from '../support/http/raw-http.ts';
import { aPerson } from '../support/http/service.ts';
import type { DeviceKey } from '../support/jose-proofs.ts';

const BASE_URL = 'https://auth.example.org';
const REFRESH = '/auth/refresh-token';
const clock = fixedClock(Date.UTC(2030, 0, 1));
const { start } = servicesOverOneDatabase();
const service = await start({}, () => ({ clock }));
const codeOf = ({ status, body }: Response) => [status, body.code];
const UNPROVEN = [401, 'AUTH_DEVICE_UNPROVEN'];

const proofFor = (key: DeviceKey, given: { htu?: string; now?: number; jti?: string; htm?: string } = {}) =>
  key.proof({ htu: `${BASE_URL}${REFRESH}`, now: clock.now(), ...given });
const refresh = (cookie: string, body: object | undefined, at = service) =>
  at.http.post(REFRESH).set('Cookie', cookie).send(body);

describe('the address of a proof', () => {
  it('may be that of the configuration or of the request, over http or https', async () => {
    const { key, cookie } = await boundUser(service);
    let held = cookie;
    for (const base of [
      BASE_URL,
      BASE_URL.replace('https', 'http'),
      service.url,
      service.url.replace('http', 'https'),
    ]) {
      const answer = await refresh(held, { proof: await proofFor(key, { htu: `${base}${REFRESH}` }) });
      expect(codeOf(answer), base).toEqual([200, undefined]);
      held = tokensOf(answer).cookie;
    }
    for (const given of [
      { htu: `https://evil.example${REFRESH}` },
      { htu: `${BASE_URL}/auth/login` },
      { htu: `${BASE_URL}${REFRESH}/` },
      { htm: 'GET' },
    ])
      expect(codeOf(await refresh(held, { proof: await proofFor(key, given) })), given.htu).toEqual(UNPROVEN);
  });

  it.each(['a b', '[', '[::1', ':', 'a:99999', 'a/b', 'a?b', 'a@b', '%', '\u00e9', '..', 'a'.repeat(4_000), ''])(
    'is compared with any Host without a failure: %.20s',
    async (host) => {
      const { key, cookie } = await boundUser(service);
      for (const htu of [`${BASE_URL}${REFRESH}`, `https://evil.example${REFRESH}`]) {
        const body = JSON.stringify({ proof: await proofFor(key, { htu }) });
        const head = [
          `POST ${REFRESH} HTTP/1.1`,
          `Host: ${host}`,
          `Cookie: ${cookie}`,
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
          'Connection: close',
        ];
        const { status } = await exchangeRaw(service.url, `${head.join('\r\n')}\r\n\r\n${body}`);
        expect(status).toBeLessThan(500);
        if (htu.includes('evil')) expect(status).not.toBe(200);
      }
    },
  );
});

it('the body of a refresh is ignored if it is of another type', async () => {
  const { cookie } = tokensOf(await service.http.post('/auth/register').send(aPerson()).expect(201));
  const { key, cookie: bound } = await boundUser(service);
  const text = JSON.stringify({ proof: await proofFor(key) });
  const sendText = (held: string) => service.http.post(REFRESH).set('Cookie', held).type('text/plain').send(text);
  expect(codeOf(await sendText(cookie))).toEqual([200, undefined]);
  expect(codeOf(await sendText(bound))).toEqual(UNPROVEN);
});
