// Proves SPEC 9.9, 11.1, 11.2; member-3
import { describe, expect, it } from 'vitest';
import {
  accountKind,
  canonicalEmail,
  canonicalUsername,
  EMAIL_PATTERN,
  USERNAME_PATTERN,
} from '../../src/domain/user.ts';

describe('a username', () => {
  it.each(['ada', 'Ada.Lovelace', 'a_b-c', '007', '...'])('may be %s', (username) => {
    expect(username).toMatch(USERNAME_PATTERN);
  });

  it.each(['a b', 'ada@x', 'adä', 'a/b', 'ada\n', 'а́да', 'a\0b', '💥'])('may not be %j', (username) => {
    expect(username).not.toMatch(USERNAME_PATTERN);
  });

  it('is one account in every letter case', () => {
    expect(canonicalUsername('Ada.LOVELACE')).toBe(canonicalUsername('aDA.lovelace'));
    expect(canonicalUsername('ada')).not.toBe(canonicalUsername('adb'));
  });
});

describe('an email address', () => {
  it.each([
    ...['ada@example.org', 'a@b.co', 'ada.lovelace+news@mail.example.co.uk', "o'hara!#$%&*/=?^_`{|}~-@example.org"],
    ...[`${'a'.repeat(64)}@example.org`, `a@${'b'.repeat(63)}.org`, 'a@xn--bcher-kva.example', 'a@1.example'],
  ])('may be %s', (email) => {
    expect(email).toMatch(EMAIL_PATTERN);
  });

  it.each([
    ...['', 'ada', '@example.org', 'ada@', 'ada@example', 'ada@@example.org', 'ada@example..org', '.ada@example.org'],
    ...['ada.@example.org', 'a..b@example.org', 'ada@-example.org', 'ada@example-.org', 'ada@example.o'],
    ...['ada@example.123', 'ada @example.org', 'ada@exam ple.org', 'ada@example.org\n', 'ada@example.org\0'],
    ...['adä@example.org', `${'a'.repeat(65)}@example.org`, `a@${'b'.repeat(64)}.org`],
  ])('may not be %j', (email) => {
    expect(email).not.toMatch(EMAIL_PATTERN);
  });

  it('is stored trimmed and in lower case', () => {
    expect(canonicalEmail('  Ada@Example.ORG\t')).toBe('ada@example.org');
  });

  it('is not changed by a second canonicalization', () => {
    const canonical = canonicalEmail(' ADA@Example.org ');
    expect(canonicalEmail(canonical)).toBe(canonical);
  });
});

it('an account is an email address when it contains an @, otherwise a username', () => {
  expect(accountKind('ada@example.org')).toBe('email');
  expect(accountKind('@')).toBe('email');
  expect(accountKind('ada')).toBe('username');
  expect(accountKind('')).toBe('username');
});
