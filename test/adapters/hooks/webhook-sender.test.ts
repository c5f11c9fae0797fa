import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { allowedAddresses, limitedLookup, type Networks } from '../../../src/adapters/hooks/addresses.ts';
import { publicHookKey, webhookKey } from '../../../src/adapters/hooks/signing.ts';
import { webhookSender } from '../../../src/adapters/hooks/webhook-sender.ts';
import { recordSpans, type SpanRecorder } from '../../../src/adapters/tracing/spans.ts';
import { FORMER_KEY_LIFETIME, type Webhook } from '../../../src/domain/webhook.ts';
import { aWebhook } from '../../support/builders.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { openReceiver, type Received, signersOf } from '../../support/webhook-receiver.ts';

const KEY = generateKeyPairSync('ed25519').privateKey;
const LOOPBACK: Networks = [ipaddr.parseCIDR('127.0.0.0/8')];
const MESSAGE = { id: 'msg_1', type: 'user.disabled', at: 0, sequence: 7, data: { userId: 'ü' } } as const;
const publicKeyOf = (webhook: Webhook, number: number) => publicHookKey(webhookKey(KEY, webhook, number).privateKey);

/** A webhook of this key, unless `given` says otherwise. */
const keyed = (given: Partial<Webhook>): Webhook => {
  const webhook = aWebhook(given);
  return { ...webhook, publicKey: given.publicKey ?? publicKeyOf(webhook, webhook.keyNumber) };
};

type Given = Partial<Parameters<typeof webhookSender>[0]> & { readonly timeout?: number };
const sending = ({ timeout, ...given }: Given = {}) => {
  const clock = { now: () => Date.now() };
  const stop = new AbortController().signal;
  return webhookSender({ hookKey: async () => KEY, allowedNetworks: LOOPBACK, clock, stop, ...given }, timeout);
};
const sendTo = async (webhook: Webhook, given?: Given) => {
  const sender = await sending(given)(webhook);
  return sender === null ? expect.unreachable() : sender(MESSAGE);
};
const send = (webhook: Partial<Webhook>, given?: Given) => sendTo(keyed(webhook), given);
const failure = async (...given: Parameters<typeof send>) =>
  String(
    await send(...given).then(
      ({ status }) => status,
      (error: Error) => error.message,
    ),
  );

describe('a request', () => {
  const firstOf = ([first]: readonly Received[]) => first ?? expect.unreachable();

  it('is signed with v1a, and says in ids what happened', async () => {
    const { url, received } = await openReceiver();
    const webhook = keyed({ url });
    expect(await sendTo(webhook)).toEqual({ status: 204, retryAfter: 0 });
    const first = firstOf(received);
    const timestamp = '1970-01-01T00:00:00.000Z';
    expect(first.json).toEqual({ type: 'user.disabled', timestamp, sequence: 7, data: { userId: 'ü' } });
    expect(first.headers).toMatchObject({ 'webhook-id': 'msg_1', 'content-type': 'application/json' });
    expect(first.headers['webhook-signature']).toMatch(/^v1a,\S+$/);
    expect(Math.abs(Date.now() / 1_000 - Number(first.headers['webhook-timestamp']))).toBeLessThan(60);
    const another = keyed({ url });
    expect(signersOf(first, [webhook.publicKey, another.publicKey])).toEqual([webhook.publicKey]);
    expect(signersOf({ ...first, body: `${first.body} ` }, [webhook.publicKey])).toEqual([]);
  });

  it('is signed with a shared secret, too, on request, which `standardwebhooks` verifies', async () => {
    const { url, received } = await openReceiver();
    const webhook = keyed({ url, hasSecret: true });
    await sendTo(webhook);
    const { headers, body, json } = firstOf(received);
    const { secret = Buffer.alloc(0) } = webhookKey(KEY, webhook, 1);
    const verifier = new Verifier(`whsec_${secret.toString('base64')}`);
    expect(verifier.verify(body, headers)).toEqual(json);
    expect(() => verifier.verify(`${body} `, headers)).toThrow('No matching signature found');
    expect(signersOf(firstOf(received), [webhook.publicKey])).toHaveLength(1);
  });

  it.each([
    ['both keys for a day after a rotation', FORMER_KEY_LIFETIME - 60_000, [2, 1]],
    ['the new key alone afterwards', FORMER_KEY_LIFETIME + 60_000, [2]],
  ])('is signed with %s', async (_what, ago, numbers) => {
    const { url, received } = await openReceiver();
    const webhook = keyed({ url, keyNumber: 2, rotatedAt: Date.now() - ago });
    await sendTo(webhook);
    const keys = [3, 2, 1].map((number) => publicKeyOf(webhook, number));
    expect(signersOf(firstOf(received), keys)).toEqual(numbers.map((number) => publicKeyOf(webhook, number)));
  });

  it('has a span, without the path, and belongs to its trace', async () => {
    const spans: unknown[] = [];
    const start: SpanRecorder['start'] = (name, kind, attributes) => ({
      ...{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', rename: () => undefined },
      set: (more) => spans.push(more),
      end: () => spans.push([name, kind, attributes]),
    });
    onTestFinished(recordSpans({ samples: () => true, start }));
    const { url, port, received } = await openReceiver();
    await send({ url });
    const server = { 'server.address': '127.0.0.1', 'server.port': port };
    expect(spans).toEqual([
      { 'http.response.status_code': 204 },
      ['POST', 'client', { 'http.request.method': 'POST', ...server }],
    ]);
    const traceparent = expect.stringMatching(/^00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0[13]$/);
    expect(firstOf(received).headers).toMatchObject({ traceparent });
    await failure({ url }, { allowedNetworks: [] });
    expect(spans).toContainEqual({ 'error.type': 'Error' });
  });

  it('is not sent by an instance that has another key, or none', async () => {
    expect(await sending()(keyed({ publicKey: 'whpk_another' }))).toBeNull();
    expect(await sending({ hookKey: async () => null })(keyed({}))).toBeNull();
  });
});

describe('an answer', () => {
  const answered = async (answer: RequestListener, given?: Given) => {
    const { url } = await openReceiver(answer);
    return send({ url }, given);
  };

  it('counts with its status alone: no redirect is followed, and no body is read', async () => {
    const { url, received } = await openReceiver();
    const answer = await answered((_request, response) => response.writeHead(307, { location: url }).end());
    expect(answer.status).toBe(307);
    expect(received).toEqual([]);
    const closed = Promise.withResolvers<void>();
    const endless = await answered((_request, response) => {
      response.on('close', closed.resolve);
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
      };
      response.on('drain', write);
      write();
    });
    expect(endless.status).toBe(200);
    await closed.promise;
  });

  it.each([
    [503, '120', 120_000],
    [429, '120', 120_000],
    [500, '120', 0],
    [503, '-1', 0],
    [503, 'soon', 0],
    [503, 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    [503, 'Tue, 01 Jan 2030 01:00:00 GMT', 3_600_000],
  ])('of %i has Retry-After: %s', async (status, text, retryAfter) => {
    const answer: RequestListener = (_request, response) => response.writeHead(status, { 'Retry-After': text }).end();
    const clock = { now: () => Date.UTC(2030, 0, 1) };
    expect(await answered(answer, { clock })).toEqual({ status, retryAfter });
  });

  /** A server that begins a response, and never ends it. */
  const dripping = async (begin: (socket: Socket) => void) => {
    const closed: Promise<unknown>[] = [];
    const server = createServer((socket) => {
      // A connection that is cut may end with an error first.
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      socket.on('error', () => undefined).resume();
      begin(socket);
    });
    const { url } = await listenOnLoopback(server);
    return { url, closed };
  };

  it.each([
    [
      'has headers that drip',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('a: b\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      },
      'the receiver has not answered in time',
    ],
    [
      'has large headers',
      (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}`),
      /header/i,
    ],
  ])('that %s is none: the connection is cut', async (_what, begin, why) => {
    const { url, closed } = await dripping(begin);
    expect(await failure({ url }, { timeout: 500 })).toMatch(why);
    expect(closed).toHaveLength(1);
    await Promise.all(closed);
  });
});

describe('an address', () => {
  const REFUSED = 'the address is refused: it is not public';
  const to =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  it.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '192.0.0.8', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '::'],
    ...['::1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::1', '2002:7f00:1::'],
    ...['2001:0:1::', 'fc00::1', 'fd00::1', 'fe80::1', 'fec0::1', 'ff02::1', '2001:db8::1', '100::1'],
  ])('that is not public is refused, as a name and as itself: %s', async (address) => {
    const resolve = to(address);
    expect(await failure({ url: 'https://receiver.example/' }, { resolve, allowedNetworks: [] })).toBe(REFUSED);
    const host = address.includes(':') ? `[${address}]` : address;
    expect(await failure({ url: `https://${host}/` }, { allowedNetworks: [] })).toBe(REFUSED);
  });

  it.each([
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::ffff:7f00:1]/',
    'http://localhost/',
    'http://example.com/',
  ])('is what a URL comes to, however it is written: %s', async (url) => {
    const resolve = to('127.0.0.1', '::1');
    expect(await failure({ url }, { resolve, allowedNetworks: [] })).toBe(REFUSED);
  });

  it('that is public is allowed over https, and over http where its network is allowed', async () => {
    const allowed = async (url: string, networks: readonly string[], ...addresses: string[]) => {
      const cidrs = networks.map((each) => ipaddr.parseCIDR(each));
      const found = await allowedAddresses(new URL(url), cidrs, to(...addresses)).catch(() => []);
      return found.map(({ address }) => address);
    };
    expect(await allowed('https://a.example/', [], '9.9.9.9', '10.0.0.1', '2620:fe::9')).toEqual([
      '9.9.9.9',
      '2620:fe::9',
    ]);
    expect(await allowed('http://a.example/', ['9.9.9.0/24'], '9.9.9.9', '8.8.8.8')).toEqual(['9.9.9.9']);
    expect(await allowed('http://a.example/', ['10.0.0.0/8', 'fd00::/8'], '::ffff:10.0.0.1', 'fd00::1', '::1')).toEqual(
      ['::ffff:10.0.0.1', 'fd00::1'],
    );
  });

  it('is resolved once an attempt, and the connection goes to the one that was checked', async () => {
    const inside = await openReceiver(undefined, '127.0.0.1');
    const asked: string[] = [];
    const rebinding = async (hostname: string) => {
      asked.push(hostname);
      return [{ address: asked.length === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
    };
    const outside = await openReceiver(undefined, '127.0.0.2');
    const allowedNetworks = [ipaddr.parseCIDR('127.0.0.2/32')];
    const url = `http://rebinding.example:${outside.port}/`;
    expect((await send({ url }, { resolve: rebinding, allowedNetworks })).status).toBe(204);
    expect(asked).toEqual(['rebinding.example']);
    const again = `http://rebinding.example:${inside.port}/`;
    expect(await failure({ url: again }, { resolve: rebinding, allowedNetworks })).toBe(REFUSED);
    expect(outside.received).toHaveLength(1);
    expect(inside.received).toEqual([]);
  });

  it('is looked up beside others that were slow: these take turns', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const asked: string[] = [];
    let answer = Promise.withResolvers<never[]>();
    const lookUp = limitedLookup((hostname) => {
      asked.push(hostname);
      return answer.promise;
    });
    const first = [lookUp('slow-1'), lookUp('slow-2'), lookUp('slow-2')];
    vi.advanceTimersByTime(2_000);
    answer.resolve([]);
    await Promise.all(first);
    expect(asked.splice(0)).toEqual(['slow-1', 'slow-2']);
    answer = Promise.withResolvers();
    const second = [lookUp('slow-1'), lookUp('slow-2'), lookUp('quick')];
    await expect.poll(() => asked).toEqual(['quick', 'slow-1']);
    answer.resolve([]);
    await Promise.all(second);
    expect(asked).toEqual(['quick', 'slow-1', 'slow-2']);
  });

  it('that is looked up for too long ends the attempt in time', async () => {
    const resolve = () => new Promise<never>(() => undefined);
    expect(await failure({ url: 'https://slow.example/' }, { resolve, timeout: 50 })).toMatch('in time');
  });
});
