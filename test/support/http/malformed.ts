import fc from 'fast-check';
import { anyText } from '../properties/arbitraries.ts';

const word = fc.oneof(anyText, fc.string(), fc.constantFrom('', ' ', '\0', '\r', '\n', '\r\n', '\u00ff'));

const method = fc.oneof(fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'get', 'G E T', 'PRI', 'CONNECT', ''), word);
const target = fc.oneof(
  fc.constantFrom('/errors', '/auth/login', '*', 'http://a b/', '/\u00e9', '', `/${'a'.repeat(20_000)}`),
  word,
);
const version = fc.oneof(
  fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.1 x', 'http/1.1', ''),
  word,
);
const header = fc.oneof(
  fc.constantFrom(
    'Host: test',
    'Host: a\r\nHost: b',
    'Host',
    ': x',
    ' folded',
    'Content-Length: 5',
    'Content-Length: 5\r\nContent-Length: 6',
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: chunked, gzip',
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding : chunked',
    'Content-Type: application/json',
    'Expect: 100-continue',
    'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
    `X: ${'a'.repeat(20_000)}`,
    'X: \0',
    'X: a\rb',
  ),
  fc.tuple(word, word).map(([name, value]) => `${name}: ${value}`),
);
const body = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    '{}',
    '5\r\nhello\r\n0\r\n\r\n',
    '5\r\nhel',
    'zz\r\n',
    '-1\r\n',
    '0\r\n\r\nGET',
    '5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\n',
    'ffffffffffffffff\r\n',
  ),
  word,
);
const newline = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r');

type Malformed = { readonly bytes: Buffer; readonly method: string };

const ofHead = (rest: string): Malformed => ({
  bytes: Buffer.from(`HEAD ${rest}\r\nConnection: close\r\n\r\n`, 'latin1'),
  method: 'HEAD',
});

/** Examples that earlier random runs have found. */
export const FOUND: readonly Malformed[] = [
  ofHead('/health/live HTTP/1.1'),
  ofHead('/health/live HTTP/1.1\r\nHost: test\r\nno colon'),
  ofHead('/health/live HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2'),
  ofHead('/\x89 HTTP/1.1\r\nHost: test'),
  {
    bytes: Buffer.from('GET /errors HTTP/1.1\r\nHost: test\r\n\r\n: \r\nConnection: close\r\n\r\n'),
    method: 'GET',
  },
  { bytes: Buffer.from('GET /errors HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n'), method: 'GET' },
];

/** Bytes of an HTTP request, mostly malformed, and the method in case they are valid. */
export const malformedRequest: fc.Arbitrary<Malformed> = fc.oneof(
  {
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 200 })
      .map((bytes) => ({ bytes: Buffer.from(bytes), method: '' })),
    weight: 1,
  },
  {
    arbitrary: fc
      .record({ method, target, version, headers: fc.array(header, { maxLength: 5 }), body, newline })
      .map(({ method, target, version, headers, body, newline }) => ({
        bytes: Buffer.from(
          [`${method} ${target} ${version}`, ...headers, 'Connection: close', '', body].join(newline),
          'latin1',
        ),
        method,
      })),
    weight: 9,
  },
);
