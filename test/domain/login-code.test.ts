import { expect, it } from 'vitest';
import { eightDigitsOf, isSameCode } from '../../src/domain/login-code.ts';
import { requestKey } from '../../src/domain/message.ts';
import { isAccountName } from '../../src/domain/user.ts';

it.each([
  ['AAAAAAAA', '00000000'],
  ['AAAAAAAB and more', '00000001'],
  ['AAAAAABA', '00000064'],
  ['AAAF9eEA', '00000000'],
  ['________', '76710655'],
])('the code of %s has eight digits: %s', (hash, code) => {
  expect(eightDigitsOf(hash)).toBe(code);
});

it.each([
  ['12345678', '12345678', true],
  ['12345678', '12345679', false],
  ['02345678', '12345678', false],
  ['1234567', '12345678', false],
  ['12345678', '1234567', false],
])('%s and %s are the same code: %s', (a, b, same) => {
  expect(isSameCode(a, b)).toBe(same);
});

it('each browser that asks for a code has a request of its own, and each address one for a link', () => {
  const [one, two] = ['1', '2'].map((id) => ({ id, to: 'ada@example.org' }));
  const keys = (kind: 'login-code-request' | 'password-reset-request') =>
    new Set([one, two].map((each) => requestKey({ id: '', to: '', ...each, kind }))).size;
  expect([keys('login-code-request'), keys('password-reset-request')]).toEqual([2, 1]);
});

it.each([
  ['ada', true],
  ['ada@example.org', true],
  ['a b', false],
  ['x'.repeat(33), false],
  ['ada@', false],
  [`${'x'.repeat(260)}@example.org`, false],
])('%j can be the name of an account: %s', (account, can) => {
  expect(isAccountName(account)).toBe(can);
});
