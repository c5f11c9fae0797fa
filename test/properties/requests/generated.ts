import { METHODS } from 'node:http';
import fc from 'fast-check';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { sampleBody } from '../../support/http/samples.ts';
import { anyText } from '../../support/properties/arbitraries.ts';

/** A generated request, with its body as bytes. */
export type GeneratedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** The tokens of a valid client. */
export type Credentials = { readonly accessToken: string; readonly cookie: string };

/** Node's client refuses other characters in paths and header values; CONNECT is left out, since it opens a tunnel. */
const inPath = (text: string) =>
  text.replaceAll(/[^\u0021-\u00ff]/g, (character) => `%${character.charCodeAt(0) % 256}`);
const inHeader = (text: string) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '\xbf');
const anyMethod = fc.constantFrom(...METHODS.filter((method) => method !== 'CONNECT'));

const mostly = <T>(usual: fc.Arbitrary<T>, ...rare: readonly fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 8 }, { arbitrary: fc.oneof(...rare), weight: 2 });
const longText = fc.string({ maxLength: 3_000, size: 'max' });

const pathValue = fc.oneof(
  anyText.map((text) => encodeURIComponent(text.toWellFormed())),
  anyText,
  fc.constantFrom('%', '%zz', '%c3%28', '%00', '%2e%2e%2f', '..', '.', ';', 'AUTH_FAILED', '__proto__'),
  longText,
);
/** Mostly none: a request with an unknown query does not get past the validation. */
const query = mostly(
  fc.constant(''),
  fc.webQueryParameters().map((text) => `?${text}`),
  anyText.map((text) => `?${text}`),
  fc.constantFrom('?', '??', '?a[]=1&a[b]=2', '?__proto__[x]=1', '?%', '#', `?${'a&'.repeat(1_000)}`),
);
const pathOf = (route: Route): fc.Arbitrary<string> =>
  fc
    .tuple(pathValue, fc.constantFrom('', '', '', '/', '//', '/x'), query)
    .map(([value, end, asked]) => `${route.path.replaceAll(/:\w+/g, () => value)}${end}${asked}`);

const ODD_PATHS = ['*', '//', '/%', '/AUTH/LOGIN', '/auth//login', '/../etc/passwd'];
const ODD_TARGETS = ['http://a.example/errors', 'http://a', 'http://[', '/\\%@#'];
const anyPath = fc
  .oneof(fc.webPath(), pathValue, fc.constantFrom(...ODD_PATHS, ...ODD_TARGETS))
  .map((path) => (/^[/*]|^http:/.test(path) ? path : `/${path}`));

/** Valid tokens, changed ones and arbitrary text. */
const tokenLike = (valid: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(valid),
    fc
      .nat({ max: valid.length - 1 })
      .map((at) => valid.slice(0, at) + (valid[at] === 'A' ? 'B' : 'A') + valid.slice(at + 1)),
    fc.nat({ max: valid.length }).map((end) => valid.slice(0, end)),
    fc
      .json()
      .map((json) => Buffer.from(json).toString('base64url'))
      .map((part) => `${part}.${part}.AAAA`),
    anyText,
  );

const headersWith = (clients: readonly Credentials[]): fc.Arbitrary<Record<string, string>> => {
  const client = fc.constantFrom(...clients);
  const cookie = client.chain((each) => tokenLike(each.cookie).map((other) => ({ other, ...each })));
  const scheme = fc.constantFrom('Bearer ', 'bearer  ', 'Basic ', 'Bearer', '');
  const values: Readonly<Record<string, fc.Arbitrary<string>>> = {
    cookie: fc.oneof(
      cookie.map(({ other }) => other),
      cookie.map(({ other, cookie: own }) => `refresh_token=${other}; ${own}`),
      anyText,
    ),
    authorization: fc.oneof(
      fc
        .tuple(
          scheme,
          client.chain(({ accessToken }) => tokenLike(accessToken)),
        )
        .map(([name, token]) => name + token),
      anyText,
    ),
    'sec-fetch-site': fc.constantFrom('cross-site', 'same-origin', 'none', ''),
    'access-control-request-method': fc.constantFrom('POST', 'X', ''),
    'access-control-request-headers': anyText,
    'svc-request-id': fc.oneof(anyText, longText),
    'x-forwarded-for': fc.oneof(fc.ipV4(), fc.ipV6(), anyText),
    'x-forwarded-proto': anyText,
    'accept-encoding': fc.constantFrom('gzip', 'br;q=x', '*'),
    accept: fc.oneof(fc.constantFrom('text/html', '*/*', 'text/html;q=0.5, */*'), anyText),
    host: fc.oneof(fc.domain(), anyText),
    expect: fc.constantFrom('100-continue', 'a miracle'),
    connection: fc.constantFrom('close', 'keep-alive', 'upgrade'),
    upgrade: fc.constantFrom('websocket', 'h2c'),
    'if-none-match': fc.constantFrom('*', '"x"'),
    range: fc.constantFrom('bytes=0-1', 'bytes=x'),
    'x-http-method-override': fc.constantFrom('DELETE', 'POST'),
  };
  const present = Object.entries(values).map(([name, value]) => [name, fc.option(value, { freq: 2, nil: undefined })]);
  const origin = fc.oneof(
    { arbitrary: fc.constantFrom(undefined, undefined, undefined, 'https://app.example.com'), weight: 16 },
    { arbitrary: fc.oneof(fc.constantFrom('null', '*', 'https://evil.example'), fc.webUrl(), anyText), weight: 1 },
  );
  return fc
    .record<Record<string, string | undefined>>({ ...Object.fromEntries(present), origin })
    .map((headers) =>
      Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, inHeader(value)]])),
      ),
    );
};

const jsonTypes = fc.constantFrom('application/json', 'application/json; charset=utf-8', 'application/vnd.api+json');
const ODD_CHARSETS = ['application/json; charset=utf-16', 'application/json; charset=x-none'];
const OTHER_TYPES = ['', 'text/plain', 'multipart/form-data; boundary=x', 'a/b/c', 'application/x-www-form-urlencoded'];
const ENCODINGS = ['gzip', 'deflate', 'br', 'identity', 'zstd', 'gzip, gzip'];

/** A body that matches the schema except for one member, or an arbitrary body. */
const bodyOf = (route: Route | undefined) => {
  const sample = route === undefined ? {} : sampleBody(route);
  const name = fc.constantFrom(...Object.keys(sample), '__proto__', 'constructor', 'other');
  const changed = fc
    .tuple(name, fc.oneof(fc.jsonValue(), anyText))
    .map(([member, value]) => ({ ...sample, [member]: value }));
  const fresh = fc
    .stringMatching(/^[a-z]{12}$/)
    .map((text) => ({ ...sample, username: text, email: `${text}@example.org`, account: text }));
  const text = fc.oneof(
    fc.oneof(fc.constant(sample), changed, changed, fresh).map((value) => JSON.stringify(value)),
    fc.json(),
    fc
      .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 1, max: 3_000 }))
      .map(([open, depth]) => open.repeat(depth)),
    fc.nat({ max: 100 }).map((end) => JSON.stringify(sample).slice(0, end)),
    fc.constant(JSON.stringify({ ...sample, padding: 'x'.repeat(17 * 1024) })),
  );
  return fc.record({
    bytes: mostly<Uint8Array>(
      text.map((each) => Buffer.from(each)),
      fc.uint8Array({ maxLength: 300 }),
      fc.constant(new Uint8Array()),
    ),
    type: mostly<string>(jsonTypes, fc.constantFrom(...ODD_CHARSETS, ...OTHER_TYPES), anyText),
    encoding: mostly<string>(fc.constant(''), fc.constantFrom(...ENCODINGS), anyText),
  });
};

/** Requests generated from the declarations of the routes, and arbitrary ones. */
export const requestsTo = (
  routes: readonly Route[],
  clients: readonly Credentials[],
): fc.Arbitrary<GeneratedRequest> => {
  const declared = fc.constantFrom(...routes).chain((route) =>
    fc.record({
      method: mostly<string>(fc.constant(route.method), anyMethod),
      path: mostly<string>(fc.constant(route.path), pathOf(route)),
      body: bodyOf(route),
    }),
  );
  const target = mostly(declared, fc.record({ method: anyMethod, path: anyPath, body: bodyOf(undefined) }));
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
