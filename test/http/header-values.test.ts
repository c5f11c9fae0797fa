// Proves flood-6
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { headerValues } from '../../src/adapters/http/stages/arrival.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import { probe, stageApp } from '../support/http/stage-app.ts';

it.each([
  ['none without headers', [], []],
  ['all in order, whatever the case of the name', ['Host', 'a', 'X', 'host', 'HOST', 'b'], ['a', 'b']],
  ['only values, not names', ['X', 'Host', 'Y', 'host'], []],
])('headerValues returns the values of a header: %s', (_what, rawHeaders, values) => {
  const incoming = Object.assign(Object.create(IncomingMessage.prototype), { rawHeaders });
  expect(headerValues(incoming, 'host')).toEqual(values);
});

/** Makes every request as Node 22.18.0 does for one with a header named `__proto__`. */
const breakHeadersDistinct = (): void => {
  const fault = () => {
    throw new TypeError('dest[field].push is not a function');
  };
  const breakIt = (message: unknown) => {
    // Node's documentation says what this channel publishes; the type does not.
    Object.defineProperty((message as { request: object }).request, 'headersDistinct', { get: fault });
  };
  subscribe('http.server.request.start', breakIt);
  onTestFinished(() => {
    unsubscribe('http.server.request.start', breakIt);
  });
};

it.each([
  ['public', 200],
  ['required', 401],
] as const)('a header named __proto__ causes no error on a route with auth %s', async (auth, expected) => {
  breakHeadersDistinct();
  const { url } = await stageApp([probe(() => 'payload', { auth })]);
  const { status } = await exchangeRaw(url, head('GET /probe', { ['__proto__']: 'x', Connection: 'close' }));
  expect(status).toBe(expected);
});
