import { describe, expect, it } from 'vitest';
import { exchangeRaw, head } from '../../support/raw-http.ts';
import { probe, stageApp } from '../../support/stage-app.ts';

/** What a handler finds in `ctx.request.cookies` under that header. */
const cookiesOf = async (header?: string): Promise<[string, string[]][]> => {
  const { url } = await stageApp([probe((_input, ctx) => [...ctx.request.cookies])]);
  const cookie: Record<string, string> = header === undefined ? {} : { Cookie: header };
  const { status, body } = await exchangeRaw(url, head('GET /probe', { ...cookie, Connection: 'close' }));
  expect(status).toBe(200);
  return JSON.parse(body).data;
};

describe('cookies', () => {
  it.each<[string, string | undefined, [string, string[]][]]>([
    ['are none without the header', undefined, []],
    ['are none of an empty header', '', []],
    ['are none of separators alone', ' ; ;; ', []],
    [
      'are known by name',
      'a=1; b=2',
      [
        ['a', ['1']],
        ['b', ['2']],
      ],
    ],
    [
      'of one name are all there, in order',
      'a=1; b=2; a=3; a=2',
      [
        ['a', ['1', '3', '2']],
        ['b', ['2']],
      ],
    ],
    ['of one name and value stay two', 'a=1; a=1', [['a', ['1', '1']]]],
    [
      'may be empty',
      'a=; b=2',
      [
        ['a', ['']],
        ['b', ['2']],
      ],
    ],
    [
      'need no space between them',
      'a=1;b=2',
      [
        ['a', ['1']],
        ['b', ['2']],
      ],
    ],
    ['keep equals signs in their value', 'a=b=c==', [['a', ['b=c==']]]],
    ['keep quotes, which are part of the value (RFC 6265bis §5.6)', 'a="1 2"', [['a', ['"1 2"']]]],
    ['are percent-decoded', 'a=%C3%A4%3B%20x', [['a', ['ä; x']]]],
    [
      'with broken percent-encoding stay as they are',
      'a=%E0%A4%A; b=%; c=3',
      [
        ['a', ['%E0%A4%A']],
        ['b', ['%']],
        ['c', ['3']],
      ],
    ],
    [
      'tell names apart by letter case',
      'a=1; A=2',
      [
        ['a', ['1']],
        ['A', ['2']],
      ],
    ],
    [
      'may have the name of a prototype',
      '__proto__=1; constructor=2; __proto__=3',
      [
        ['__proto__', ['1', '3']],
        ['constructor', ['2']],
      ],
    ],
    ['without a name or an equals sign are left out', 'x; a=1', [['a', ['1']]]],
  ])('%s', async (_what, header, expected) => {
    expect(await cookiesOf(header)).toEqual(expected);
  });

  it('of several header lines are put together', async () => {
    const { url } = await stageApp([probe((_input, ctx) => ctx.request.cookies.get('a'))]);
    const lines = 'GET /probe HTTP/1.1\r\nHost: test\r\nCookie: a=1\r\nCookie: a=2\r\nConnection: close\r\n\r\n';
    expect(JSON.parse((await exchangeRaw(url, lines)).body).data).toEqual(['1', '2']);
  });

  it('change no object that others use', async () => {
    await cookiesOf('__proto__=polluted; polluted=yes');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('are parsed in a time that grows with their number', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `a=${index % 10}`).join('; ');
    const [[name, values] = ['', []]] = await cookiesOf(many.slice(0, 15_000));
    expect([name, values.length]).toEqual(['a', 3_000]);
  });
});
