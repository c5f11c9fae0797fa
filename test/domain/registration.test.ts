import { describe, expect, it } from 'vitest';
import { assertDomainAllowed, assertMayRegister } from '../../src/domain/registration.ts';

const message = 'Registration with this email address is not allowed.';
const REFUSED = expect.objectContaining({ code: 'AUTH_REGISTRATION_REFUSED', message });
const domains = ['example.com', '.example.org'];

describe('the domains of addresses', () => {
  it.each(['ada@example.com', ' Ada@EXAMPLE.com ', 'ada@mail.example.org', 'ada@a.b.example.org'])(
    'have %s',
    (email) => {
      assertDomainAllowed({ mode: 'closed', domains }, email);
      assertMayRegister({ mode: 'open', domains }, email);
    },
  );

  it.each([
    ...['ada@mail.example.com', 'ada@example.org', 'ada@badexample.com', 'ada@badexample.org'],
    ...['ada@example.com.evil.example', 'example.com@evil.example'],
  ])('do not have %s', (email) => {
    expect(() => assertMayRegister({ mode: 'open', domains }, email)).toThrow(REFUSED);
  });

  it('are all, unless some are named', () => {
    assertMayRegister({ mode: 'open', domains: [] }, 'ada@anywhere.example');
    assertMayRegister(undefined, 'ada@anywhere.example');
  });
});

const closed = expect.objectContaining({ code: 'AUTH_REGISTRATION_CLOSED' });

it('registration by invitation is closed without one, and open at all domains with one', () => {
  const uninvited = () => assertMayRegister({ mode: 'invited', domains }, 'ada@example.com');
  for (const expected of [closed, 'Registration is by invitation.']) expect(uninvited).toThrow(expected);
  for (const mode of ['invited', 'open'] as const) assertMayRegister({ mode, domains }, 'ada@anywhere.example', true);
  expect(() => assertMayRegister({ mode: 'closed', domains }, 'ada@example.com', true)).toThrow(closed);
});

it('registration that is closed is so for allowed addresses, too', () => {
  expect(() => assertMayRegister({ mode: 'closed', domains }, 'ada@example.com')).toThrow(closed);
});
