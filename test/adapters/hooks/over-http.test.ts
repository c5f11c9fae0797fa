import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { ulidGenerator } from '../../../src/adapters/clock/system.ts';
import { limitedBeforeRegister } from '../../../src/adapters/hooks/bounded.ts';
import { askOverHttp } from '../../../src/adapters/hooks/over-http.ts';
import { publicHookKey } from '../../../src/adapters/hooks/signing.ts';
import { redactError } from '../../../src/adapters/log/redact-error.ts';
import { listenOnLoopback } from '../../support/listen.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const clock = { now: () => 1_800_000_000_123 };
const ids = ulidGenerator(clock);
const REGISTRATION = {
  ...{ username: 'ada', email: 'ada@example.org', locale: 'de' },
  ...{ address: '192.0.2.0/24', userAgent: 'Browser', invited: false, extra: { captcha: 'ü' } },
};

const urlOf = async (listener: RequestListener) => {
  const { url } = await listenOnLoopback(createServer(listener));
  return `${url}/hook`;
};
const asking = (url: string, observe = vi.fn()) =>
  limitedBeforeRegister(askOverHttp(url, privateKey, 'registration.requested', { clock, ids }), observe);

/** Why a registration is refused, as the log has it. */
const causeOf = async (url: string) => {
  const error = redactError(await asking(url)(REGISTRATION).catch((failed: unknown) => failed));
  expect(error).toMatchObject({ code: 'SYS_HOOK_UNAVAILABLE' });
  expect(JSON.stringify(error)).not.toContain('s3cr3t');
  return error.cause;
};

it('sends what a registration is about, signed as Standard Webhooks says, and returns the answer', async () => {
  const sent = new Set<string>();
  const url = await urlOf(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature = '' } = request.headers;
    const x = Buffer.from(publicHookKey(privateKey).slice('whpk_'.length), 'base64');
    expect(x).toHaveLength(32);
    const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') } });
    const [version, base64 = ''] = String(signature).split(',');
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
    const given = JSON.parse(body.toString());
    response.end(
      JSON.stringify({
        decision: 'allow',
        attributes: {
          isGenuine: version === 'v1a' && verify(null, signed, key, Buffer.from(base64, 'base64')),
          at: Number(timestamp),
          isSameMoment: Math.floor(Date.parse(given.timestamp) / 1_000) === Number(timestamp),
          given: [request.method, request.headers['content-type'], given.type],
          isWhole: JSON.stringify(given.data) === JSON.stringify(REGISTRATION),
        },
      }),
    );
    sent.add(String(id));
  });
  const ask = asking(url);
  for (const _time of [1, 2])
    expect(await ask(REGISTRATION)).toEqual({
      decision: 'allow',
      attributes: {
        ...{ isGenuine: true, at: 1_800_000_000, isSameMoment: true, isWhole: true },
        given: ['POST', 'application/json', 'registration.requested'],
      },
    });
  expect(sent.size).toBe(2);
});

describe('an answer that counts as none', () => {
  const sent = (body: string | Buffer, headers = {}, status = 200) =>
    urlOf((_request, response) => {
      response.writeHead(status, headers).end(body);
    });
  const ALLOW = JSON.stringify({ decision: 'allow' });

  it.each([
    ['HTML', '<p>s3cr3t</p>', { type: 'SyntaxError' }],
    ['null', 'null', { message: 'the answer is not valid' }],
    [
      'attributes that pollute prototypes',
      '{"decision":"allow","attributes":{"a":{"__proto__":{"b":1}}}}',
      { type: 'Error' },
    ],
  ])('%s', async (_what, body, cause) => {
    expect(await causeOf(await sent(body))).toMatchObject(cause);
    expect(Object.hasOwn(Object.prototype, 'b')).toBe(false);
  });

  it('another status than one of success, whatever the body is', async () => {
    const message = 'the hook has answered with the status 503';
    expect(await causeOf(await sent(ALLOW, {}, 503))).toMatchObject({ message });
  });

  it('a redirect, which is not followed', async () => {
    let followed = 0;
    const elsewhere = await urlOf((_request, response) => {
      followed += 1;
      response.end(ALLOW);
    });
    expect(await causeOf(await sent('', { location: elsewhere }, 307))).toMatchObject({ message: /./ });
    expect(followed).toBe(0);
  });

  it('one of 16 kB and a byte', async () => {
    expect(await causeOf(await sent(ALLOW.padEnd(16_385)))).toMatchObject({ message: 'the answer is too long' });
  });

  it('one that is late with its headers, or with its end: both connections are cut after two seconds', async () => {
    const waiting: Promise<unknown>[] = [];
    const late = (begin: (response: ServerResponse) => void) =>
      urlOf((_request, response) => {
        waiting.push(once(response, 'close'));
        begin(response);
      });
    const urls = [await late(() => undefined), await late((response) => response.write('{"decision":'))];
    await Promise.all(urls.map(causeOf));
    expect(waiting).toHaveLength(2);
    await Promise.all(waiting);
  });
});
