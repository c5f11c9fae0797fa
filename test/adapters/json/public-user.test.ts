// Proves SPEC 2.4
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { PublicUserJson, Timestamp } from '../../../src/adapters/json/fields.ts';
import { aUser } from '../../support/builders.ts';

it('the public user as JSON never contains the hash', () => {
  expect(JSON.stringify(v.parse(PublicUserJson, aUser({ passwordHash: 'secret' })))).not.toContain('secret');
});

it('Timestamp formats every millisecond up to the year 9999, and refuses other values', () => {
  expect(v.parse(Timestamp, 0)).toBe('1970-01-01T00:00:00.000Z');
  expect(v.parse(Timestamp, 253_402_300_799_999)).toBe('9999-12-31T23:59:59.999Z');
  for (const time of [253_402_300_800_000, -1, 0.5, Number.NaN, Infinity, '0', null]) {
    expect(v.is(Timestamp, time), String(time)).toBe(false);
  }
});
