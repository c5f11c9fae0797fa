// Proves SPEC 12.5, 12.6; flood-3
import { describe, expect, it } from 'vitest';
import { exchangeRaw, head } from '../../support/http/raw-http.ts';
import { probe, stageApp } from '../../support/http/stage-app.ts';

/** `ctx.request.cookies` in a handler, for these header lines of a request. */
const cookiesOf = async (lines: string): Promise<[string, string[]][]> => {
  const { url } = await stageApp([probe((_input, ctx) => [...ctx.request.cookies])]);
  const { status, body } = await exchangeRaw(
    url,
    head(`GET /probe`, { Connection: 'close' }).replace('\r\n', `\r\n${lines}`),
  );
  expect(status).toBe(200);
  return JSON.parse(body).data;
};

/** The values of `refresh_token` in a Cookie header. Expects that no other cookie was parsed. */
const valuesOf = async (header: string): Promise<string[]> => {
  const cookies = await cookiesOf(`Cookie: ${header}\r\n`);
  expect(cookies.map(([name]) => name)).toEqual(cookies.length === 0 ? [] : ['refresh_token']);
  return cookies[0]?.[1] ?? [];
};

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `refresh_token=${at}`).join('; ');

describe('cookies', () => {
  it.each<[string, string, string[]]>([
    ['are none with an empty header', '', []],
    ['are none with separators only', ' ; ;; ', []],
    ['are found by name', 'refresh_token=1', ['1']],
    ['with other names are ignored', 'a=1; refresh_token=2; theme=dark', ['2']],
    [
      'with a name that only begins or ends the same are ignored',
      'refresh_token2=1; a_refresh_token=2; x refresh_token=3',
      [],
    ],
    ['with the name in their value are ignored', 'a=refresh_token=1; b="refresh_token=2"; refresh_token=3', ['3']],
    [
      'with the same name are all kept, in order',
      'refresh_token=1; b=2; refresh_token=3; refresh_token=2',
      ['1', '3', '2'],
    ],
    ['with the same name and value are both kept', 'refresh_token=1; refresh_token=1', ['1', '1']],
    ['may be empty', 'refresh_token=; b=2', ['']],
    ['need no space between them', 'a=1;refresh_token=2;refresh_token=3', ['2', '3']],
    ['are trimmed around name and value', ' \t refresh_token \t = \t 1 2 \t ; b=2', ['1 2']],
    ['keep equals signs in their value', 'refresh_token=b=c==', ['b=c==']],
    ['keep quotes, which are part of the value (RFC 6265bis §5.6)', 'refresh_token="1 2"', ['"1 2"']],
    ['end at a semicolon, in quotes too', 'refresh_token="1;refresh_token=2"', ['"1', '2"']],
    ['are percent-decoded', 'refresh_token=%C3%A4%3B%20x', ['ä; x']],
    [
      'with malformed percent-encoding are kept unchanged',
      'refresh_token=%E0%A4%A; refresh_token=%; refresh_token=3',
      ['%E0%A4%A', '%', '3'],
    ],
    ['have case-sensitive names', 'REFRESH_TOKEN=1; Refresh_Token=2', []],
    ['may have the name __proto__', '__proto__=polluted; polluted=yes; constructor=2; refresh_token=3', ['3']],
    ['without a name or an equals sign are ignored', 'refresh_token; =refresh_token; refresh_token=1', ['1']],
    ['with the same name are limited to the first eight', numbered(9), ['0', '1', '2', '3', '4', '5', '6', '7']],
    ['with other names do not count towards that limit', `${'a=1; '.repeat(3_000)}${numbered(8)}`, [...'01234567']],
  ])('%s', async (_what, header, expected) => {
    expect(await valuesOf(header)).toEqual(expected);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('are none without the header, and are collected from several header lines', async () => {
    expect(await cookiesOf('')).toEqual([]);
    const lines = 'Cookie: refresh_token=1\r\nCookie: a=1\r\nCookie: refresh_token=2\r\n';
    expect(await cookiesOf(lines)).toEqual([['refresh_token', ['1', '2']]]);
  });
});
