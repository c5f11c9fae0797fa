// Proves mail-6
import { expect, it } from 'vitest';
import { mailboxOf } from '../../src/domain/message.ts';

it.each([
  ['ada@example.org', 'ada@example.org'],
  ['ada+a+b@example.org', 'ada@example.org'],
  ['a.da@example.org', 'a.da@example.org'],
  ['+ada@example.org', '+ada@example.org'],
  ['a.d.a+x@gmail.com', 'ada@gmail.com'],
  ['a.da@googlemail.com', 'ada@gmail.com'],
  ['a.da@pm.me', 'ada@proton.me'],
  ['a.da@constructor', 'a.da@constructor'],
])('a mailbox of %s is that of %s', (email, mailbox) => {
  expect(mailboxOf(email)).toBe(mailbox);
});
