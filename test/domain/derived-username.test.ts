import { expect, it } from 'vitest';
import { derivedUsernames, USERNAME_MAX_LENGTH, USERNAME_MIN_LENGTH, USERNAME_PATTERN } from '../../src/domain/user.ts';

const RANDOM = '0123456789-_azAZ';

it.each([
  ['ada@example.org', 'ada'],
  [' Ada.Lovelace@Example.ORG', 'ada.lovelace'],
  ['ada+shop@example.org', 'adashop'],
  ["o'brien_1-x@example.org", 'obrien_1-x'],
  ['a@example.org', 'user-a'],
  ['jo@example.org', 'user-jo'],
  ["{'}@example.org", 'user'],
  [`${'a'.repeat(64)}@example.org`, 'a'.repeat(23)],
  ['01m805m0dqrnb7pksres70k5mb@example.org', '01m805m0dqrnb7pksres70k'],
])('derivedUsernames of %s are %s, and that with random numbers', (email, name) => {
  const usernames = derivedUsernames(email, RANDOM);
  expect(usernames).toEqual([name, `${name}-89`, `${name}-8901`, `${name}-890123`, `${name}-89012345`]);
  for (const username of usernames) {
    expect(username).toMatch(USERNAME_PATTERN);
    expect(username.length).toBeGreaterThanOrEqual(USERNAME_MIN_LENGTH);
    expect(username.length).toBeLessThanOrEqual(USERNAME_MAX_LENGTH);
  }
});
