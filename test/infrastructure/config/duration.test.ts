import { describe, expect, it } from 'vitest';
import { MAX_DURATION, parseDuration } from '../../../src/infrastructure/config/schemas.ts';

describe('parseDuration', () => {
  it.each([
    ['10s', 10_000],
    ['15m', 900_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['0', 0],
    ['3650d', MAX_DURATION],
  ])('reads %s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    '',
    '15',
    '15 m',
    ' 15m',
    '15M',
    '1w',
    '10ms',
    '1.5h',
    '-1s',
    '+1s',
    '0s',
    '01s',
    '1m30s',
    '3651d',
    '9999999999d',
    '१s',
    '1e3s',
  ])('refuses "%s"', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});
