import { expect, it } from 'vitest';
import { EMAIL_MAX_LENGTH, isAccountName, newUser, publicUser, USERNAME_MAX_LENGTH } from '../../src/domain/user.ts';

const NOW = Date.UTC(2026, 0, 1);
const INPUT = { id: 'u1', username: 'Ada', email: ' Ada@Example.ORG ', passwordHash: 'hash', now: NOW };

it('newUser keeps the username unchanged and the email in canonical form', () => {
  expect(newUser(INPUT)).toEqual({
    id: 'u1',
    username: 'Ada',
    email: 'ada@example.org',
    passwordHash: 'hash',
    createdAt: NOW,
    updatedAt: NOW,
    passwordChangedAt: 0,
    emailVerifiedAt: null,
    disabledAt: null,
    secondFactorAt: null,
    attributes: {},
    locale: null,
    importedFactors: null,
    removedIdentities: null,
  });
});

it('publicUser drops the hash, the time of the last password change, and any field that is not public', () => {
  const user = { ...newUser(INPUT), recoveryCode: 'secret' };
  expect(Object.keys(publicUser(user)).sort()).toEqual(['createdAt', 'email', 'id', 'updatedAt', 'username']);
});

it('no account has a name that is longer than a username or an email may be', () => {
  const longest = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.example`.slice(
    0,
    EMAIL_MAX_LENGTH,
  );
  const names = ['a'.repeat(USERNAME_MAX_LENGTH), longest];
  expect(names.map(isAccountName)).toEqual([true, true]);
  expect(names.map((name) => isAccountName(`${name}e`))).toEqual([false, false]);
});
