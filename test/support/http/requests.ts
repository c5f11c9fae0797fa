import { METHODS } from 'node:http';
import fc from 'fast-check';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { anyText } from '../properties/arbitraries.ts';
import { sampleBody } from './samples.ts';

/** A generated request, with its body as bytes. */
export type GeneratedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** The tokens of valid clients, by the number of the client. */
export type Credentials = { readonly accessToken: string; readonly cookie: string };
export type Clients = (number: number) => Credentials;

/** Node's client refuses other characters in paths and header values; CONNECT is left out, since it opens a tunnel. */
const inPath = (text: string) =>
  text.replaceAll(/[^\u0021-\u00ff]/g, (character) => `%${character.charCodeAt(0) % 256}`);
const inHeader = (text: string) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '\xbf');
const SENDABLE = METHODS.filter((method) => method !== 'CONNECT');

const pathValue = fc.oneof(
  anyText.map((text) => encodeURIComponent(text.toWellFormed())),
  anyText,
  fc.constantFrom(
    '%',
    '%zz',
    '%c3%28',
    '%00',
    '%2e%2e%2f',
    '..',
    '.',
    ';',
    'AUTH_FAILED',
    'AUTH_TOKEN_INVALID',
    '__proto__',
  ),
  fc.string({ maxLength: 3_000, size: 'max' }),
);

/** Mostly none: most queries are refused, and then the request does not get past the validation. */
const query = fc.oneof(
  { arbitrary: fc.constant(''), weight: 6 },
  fc.webQueryParameters().map((text) => `?${text}`),
  anyText.map((text) => `?${text}`),
  fc.constantFrom('?', '??', '?a[]=1&a[b]=2', '?__proto__[x]=1', '?%', '#', `?${'a&'.repeat(1_000)}`),
);

const pathOf = (route: Route): fc.Arbitrary<string> =>
  fc.tuple(pathValue, fc.constantFrom('', '', '', '/', '//', '/x'), query).map(([value, end, asked]) => {
    const path = route.path.replaceAll(/:\w+/g, () => value);
    return `${path}${end}${asked}`;
  });

const anyPath = fc
  .oneof(
    fc.webPath(),
    pathValue,
    fc.constantFrom(
      '*',
      '/',
      '//',
      '/%',
      '/auth',
      '/auth/',
      '/AUTH/LOGIN',
      '/auth//login',
      '/../etc/passwd',
      'http://a.example/errors',
      'http://a',
      'http://[',
      '/\\%@#',
    ),
  )
  .map((path) => (/^[/*]|^http:/.test(path) ? path : `/${path}`));

/** Valid tokens, changed ones and arbitrary text. */
const tokenLike = (valid: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(valid),
    fc
      .nat({ max: Math.max(0, valid.length - 1) })
      .map((at) => `${valid.slice(0, at)}${valid[at] === 'A' ? 'B' : 'A'}${valid.slice(at + 1)}`),
    fc.nat({ max: valid.length }).map((end) => valid.slice(0, end)),
    fc
      .json()
      .map((json) => `${Buffer.from(json).toString('base64url')}.${Buffer.from(json).toString('base64url')}.AAAA`),
    anyText,
  );

const headersWith = (clients: Clients): fc.Arbitrary<Record<string, string>> => {
  const client = fc.nat({ max: 100 }).map(clients);
  const optional = (values: fc.Arbitrary<string>) => fc.option(values, { freq: 2, nil: undefined });
  return fc
    .record({
      cookie: optional(
        fc.oneof(
          client.chain(({ cookie }) => tokenLike(cookie)),
          client.chain(({ cookie }) => tokenLike(cookie).map((other) => `refresh_token=${other}; ${cookie}`)),
          anyText,
        ),
      ),
      authorization: optional(
        fc.oneof(
          fc
            .tuple(
              fc.constantFrom('Bearer ', 'bearer  ', 'Basic ', 'Bearer', ''),
              client.chain(({ accessToken }) => tokenLike(accessToken)),
            )
            .map(([scheme, token]) => scheme + token),
          anyText,
        ),
      ),
      origin: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 12 },
        { arbitrary: fc.constant('https://app.example.com'), weight: 4 },
        { arbitrary: fc.oneof(fc.constantFrom('null', '*', 'https://evil.example'), fc.webUrl(), anyText), weight: 1 },
      ),
      'sec-fetch-site': optional(fc.constantFrom('cross-site', 'same-origin', 'none', '')),
      'access-control-request-method': optional(fc.constantFrom('POST', 'X', '')),
      'access-control-request-headers': optional(anyText),
      'svc-request-id': optional(fc.oneof(anyText, fc.string({ maxLength: 200, size: 'max' }))),
      'x-forwarded-for': optional(fc.oneof(fc.ipV4(), fc.ipV6(), anyText)),
      'x-forwarded-proto': optional(anyText),
      'accept-encoding': optional(fc.constantFrom('gzip', 'br;q=x', '*')),
      accept: optional(fc.oneof(fc.constantFrom('text/html', '*/*', 'text/html;q=0.5, */*'), anyText)),
      host: optional(fc.oneof(fc.domain(), anyText)),
      expect: optional(fc.constantFrom('100-continue', 'a miracle')),
      connection: optional(fc.constantFrom('close', 'keep-alive', 'upgrade')),
      upgrade: optional(fc.constantFrom('websocket', 'h2c')),
      'if-none-match': optional(fc.constantFrom('*', '"x"')),
      range: optional(fc.constantFrom('bytes=0-1', 'bytes=x')),
      'x-http-method-override': optional(fc.constantFrom('DELETE', 'POST')),
    })
    .map((headers) =>
      Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, inHeader(value)]])),
      ),
    );
};

const deep = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 1, max: 3_000 }))
  .map(([open, depth]) => open.repeat(depth));

/** A body that matches the schema except for one member, or an arbitrary body. */
const bodyOf = (route: Route | undefined): fc.Arbitrary<{ bytes: Uint8Array; type: string; encoding: string }> => {
  const sample = route === undefined ? {} : sampleBody(route);
  const names = [...Object.keys(sample), '__proto__', 'constructor', 'other'];
  const valid = fc.constant(sample);
  const changed = fc
    .tuple(fc.constantFrom(...names), fc.jsonValue())
    .map(([name, value]) => ({ ...sample, [name]: value }));
  const texts = fc.tuple(fc.constantFrom(...names), anyText).map(([name, value]) => ({ ...sample, [name]: value }));
  const fresh = fc
    .stringMatching(/^[a-z]{12}$/)
    .map((name) => ({ ...sample, username: name, email: `${name}@example.org`, account: name }));
  const json = fc.oneof(
    fc.oneof(valid, changed, texts, fresh).map((value) => JSON.stringify(value)),
    fc.json(),
    deep,
    fc.tuple(valid, fc.nat({ max: 100 })).map(([value, end]) => JSON.stringify(value).slice(0, end)),
    fc.constant(JSON.stringify({ ...sample, padding: 'x'.repeat(17 * 1024) })),
  );
  const bytes = fc.oneof(
    { arbitrary: json.map((text): Uint8Array => Buffer.from(text)), weight: 8 },
    { arbitrary: fc.uint8Array({ maxLength: 300 }), weight: 1 },
    { arbitrary: fc.constant(new Uint8Array()), weight: 2 },
  );
  const type = fc.oneof(
    {
      arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'application/vnd.api+json'),
      weight: 8,
    },
    {
      arbitrary: fc.constantFrom(
        '',
        'text/plain',
        'application/json; charset=utf-16',
        'application/json; charset=x-none',
        'multipart/form-data; boundary=x',
        'a/b/c',
        'application/x-www-form-urlencoded',
      ),
      weight: 1,
    },
    { arbitrary: anyText, weight: 1 },
  );
  const encoding = fc.oneof(
    { arbitrary: fc.constant(''), weight: 8 },
    {
      arbitrary: fc.oneof(fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'zstd', 'gzip, gzip'), anyText),
      weight: 1,
    },
  );
  return fc.record({ bytes, type, encoding });
};

/** Requests generated from the declarations of the routes, and arbitrary ones. */
export const requestsTo = (routes: readonly Route[], clients: Clients): fc.Arbitrary<GeneratedRequest> => {
  const target = fc.oneof(
    {
      arbitrary: fc.constantFrom(...routes).chain((route) =>
        fc.record({
          method: fc.oneof(
            { arbitrary: fc.constant<string>(route.method), weight: 6 },
            { arbitrary: fc.constantFrom('HEAD', 'OPTIONS', ...SENDABLE), weight: 1 },
          ),
          path: fc.oneof(
            { arbitrary: pathOf(route), weight: 1 },
            { arbitrary: fc.constant<string>(route.path), weight: 2 },
          ),
          body: bodyOf(route),
        }),
      ),
      weight: 8,
    },
    {
      arbitrary: fc.record({ method: fc.constantFrom(...SENDABLE), path: anyPath, body: bodyOf(undefined) }),
      weight: 1,
    },
  );
  return fc.tuple(target, headersWith(clients)).map(([{ method, path, body }, headers]) => ({
    method,
    path: inPath(path),
    headers: {
      ...headers,
      ...(body.type !== '' && { 'content-type': inHeader(body.type) }),
      ...(body.encoding !== '' && { 'content-encoding': inHeader(body.encoding) }),
    },
    body: body.bytes,
  }));
};
