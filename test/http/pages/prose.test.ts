import { describe, expect, it } from 'vitest';
import { breakable, prose } from '../../../src/adapters/http/pages/layout.ts';

describe('prose', () => {
  it('has code in backticks, and escapes both', () => {
    expect(prose('a < `b > c` & d').text).toBe('a &#60; <code>b &#62; c</code> &#38; d');
  });

  it('breaks a word after its underscores', () => {
    expect(breakable('DB_QUERY_<').text).toBe('DB_<wbr>QUERY_<wbr>&#60;');
  });
});
