import { expect, it } from 'vitest';
import { newUser, publicUser } from '../../src/domain/user.ts';

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
