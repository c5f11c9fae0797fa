import fc from 'fast-check';
import { anyText } from '../../support/properties/arbitraries.ts';

const word = fc.oneof(anyText, fc.string(), fc.constantFrom('', ' ', '\0', '\r', '\n', '\r\n', '\u00ff'));
const oneOf = (...texts: readonly string[]) => fc.oneof(fc.constantFrom(...texts), word);

const method = oneOf('GET', 'POST', 'HEAD', 'OPTIONS', 'get', 'G E T', 'PRI', 'CONNECT', '');
const target = oneOf('/errors', '/auth/login', '*', 'http://a b/', '/\u00e9', '', `/${'a'.repeat(20_000)}`);
const version = oneOf('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.1 x', 'http/1.1', '');
const header = fc.oneof(
  fc.constantFrom(
    ...['Host: test', 'Host: a\r\nHost: b', 'Host', ': x', ' folded', 'X: \0', 'X: a\rb', `X: ${'a'.repeat(20_000)}`],
    ...['Content-Length: 5', 'Content-Length: 5\r\nContent-Length: 6', 'Content-Length: -1'],
    ...['Content-Length: 99999999999999999999', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ...['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding : chunked'],
    ...[
      'Content-Type: application/json',
      'Expect: 100-continue',
      'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
    ],
  ),
  fc.tuple(word, word).map(([name, value]) => `${name}: ${value}`),
);
const body = oneOf(
  ...['', 'x', '{}', '5\r\nhello\r\n0\r\n\r\n', '5\r\nhel', 'zz\r\n', '-1\r\n', '0\r\n\r\nGET'],
  ...['5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\n', 'ffffffffffffffff\r\n'],
);
const newline = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r');

type Malformed = { readonly bytes: Buffer; readonly method: string };

const ofHead = (rest: string): Malformed => ({
  bytes: Buffer.from(`HEAD ${rest}\r\nConnection: close\r\n\r\n`, 'latin1'),
  method: 'HEAD',
});
const ofGet = (rest: string): Malformed => ({ bytes: Buffer.from(`GET /errors HTTP/1.1\r\n${rest}`), method: 'GET' });

/** Examples that earlier random runs have found. */
export const FOUND: readonly Malformed[] = [
  ofHead('/health/live HTTP/1.1'),
  ofHead('/health/live HTTP/1.1\r\nHost: test\r\nno colon'),
  ofHead('/health/live HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2'),
  ofHead('/\x89 HTTP/1.1\r\nHost: test'),
  ofGet('Host: test\r\n\r\n: \r\nConnection: close\r\n\r\n'),
  ofGet('Expect: 100-continue\r\nConnection: close\r\n\r\n'),
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
      .map(({ headers, ...line }) => ({
        bytes: Buffer.from(
          [`${line.method} ${line.target} ${line.version}`, ...headers, 'Connection: close', '', line.body].join(
            line.newline,
          ),
          'latin1',
        ),
        method: line.method,
      })),
    weight: 9,
  },
);
