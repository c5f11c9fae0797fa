import { describe, expect, it } from 'vitest';
import { ATTRIBUTES_MAX_BYTES, readAttributes } from '../../src/domain/attributes.ts';

/** JSON of so many bytes: a character of two bytes, and letters. */
const ofBytes = (bytes: number): string =>
  JSON.stringify({ note: `ä${'a'.repeat(bytes - '{"note":"ä"}'.length - 1)}` });

describe('readAttributes', () => {
  it.each<[string, object]>([
    ['{"roles":["admin"]}', { roles: ['admin'] }],
    ['{}', {}],
    [
      ' { "level" : 9007199254740991 , "active":true, "boss":null, "share": 0.5 } ',
      { level: 9007199254740991, active: true, boss: null, share: 0.5 },
    ],
    ['{"a":{"b":{"c":[]}}}', { a: { b: { c: [] } } }],
    ['{"team":{"sub":"a name that is reserved outside"}}', { team: { sub: 'a name that is reserved outside' } }],
  ])('reads %s', (text, attributes) => {
    expect(readAttributes(text)).toEqual(attributes);
  });

  it.each(['', 'admin', '{', 'null', '1', '"admin"', '["admin"]', "{'roles':[]}"])(
    'refuses what is no JSON object: %s',
    (text) => {
      expect(() => readAttributes(text)).toThrow('The attributes have to be a JSON object.');
    },
  );

  it.each([
    ...['sub', 'iss', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sid', 'tokenType', 'user', 'auth_time', 'amr', 'acr'],
    'attributes',
  ])('refuses the name of the claim %s', (name) => {
    expect(() => readAttributes(JSON.stringify({ roles: [], [name]: 'x' }))).toThrow(`The name ${name} is reserved`);
  });

  it.each(['{"__proto__":{}}', '{"a":{"__proto__":1}}', '{"a":[{"constructor":1}]}', '{"prototype":1}'])(
    'refuses a name that has a meaning in JavaScript, at any depth: %s',
    (text) => {
      expect(() => readAttributes(text)).toThrow('has a meaning in JavaScript');
    },
  );

  it.each(['{"a":{"b":{"c":[[]]}}}', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`])(
    'refuses more than four levels',
    (text) => {
      expect(() => readAttributes(text)).toThrow('at most 4 objects and lists within each other');
    },
  );

  it.each(['{"id":9007199254740992}', '{"id":[-12345678901234567890]}', '{"id":1e999}'])(
    'refuses a number that cannot be read exactly: %s',
    (text) => {
      expect(() => readAttributes(text)).toThrow('write it as a text');
    },
  );

  it.each(['{"a":"x\\u0000"}', '{"a":["\\ud800"]}', '{"a":{"\\u0000":1}}', '{"\\udc00":1}'])(
    'refuses NUL and lone surrogates, at any depth: %s',
    (text) => {
      expect(() => readAttributes(text)).toThrow('NUL or a lone surrogate');
    },
  );

  it('counts bytes of UTF-8, without blanks', () => {
    const longest = ofBytes(ATTRIBUTES_MAX_BYTES);
    expect(Buffer.byteLength(longest)).toBe(1_024);
    expect(readAttributes(` ${longest} `)).toEqual(JSON.parse(longest));
    expect(() => readAttributes(ofBytes(ATTRIBUTES_MAX_BYTES + 1))).toThrow('at most 1024 bytes of UTF-8');
  });

  it('says nothing of the text', () => {
    for (const text of ['secret', '{"a":"secret","sub":"secret"}', `{"secret":${'[['.repeat(9)}${']]'.repeat(9)}}`])
      expect(() => readAttributes(text)).toThrow(/^(?!.*secret)/);
  });
});
