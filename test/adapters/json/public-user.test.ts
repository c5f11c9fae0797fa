// Proves SPEC 2.4
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { PublicUserFromJson, PublicUserJson, Timestamp } from '../../../src/adapters/json/fields.ts';
import type { PublicUser } from '../../../src/domain/user.ts';

const USER: PublicUser = {
  id: 'u1',
  username: 'Ada',
  email: 'ada@example.org',
  createdAt: Date.UTC(2025, 11, 31, 23, 59, 59, 999),
  updatedAt: Date.UTC(2026, 0, 1),
};

describe('the public user as JSON', () => {
  it('has its times in ISO 8601', () => {
    expect(v.parse(PublicUserJson, USER)).toEqual({
      ...USER,
      createdAt: '2025-12-31T23:59:59.999Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
  });

  it('is parsed back to the same value', () => {
    expect(v.parse(PublicUserFromJson, v.parse(PublicUserJson, USER))).toEqual(USER);
  });

  it('never contains the hash', () => {
    expect(v.parse(PublicUserJson, { ...USER, passwordHash: 'secret' })).not.toHaveProperty('passwordHash');
  });
});

it('Timestamp formats every millisecond up to the year 9999, and refuses other values', () => {
  expect(v.parse(Timestamp, 0)).toBe('1970-01-01T00:00:00.000Z');
  expect(v.parse(Timestamp, 253_402_300_799_999)).toBe('9999-12-31T23:59:59.999Z');
  for (const time of [253_402_300_800_000, -1, 0.5, Number.NaN, Infinity, '0', null]) {
    expect(v.is(Timestamp, time), String(time)).toBe(false);
  }
});
