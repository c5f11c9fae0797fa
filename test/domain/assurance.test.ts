import { describe, expect, it } from 'vitest';
import {
  type Amr,
  amrAfter,
  assuranceOf,
  authenticatedBy,
  type Method,
  missingStepUp,
} from '../../src/domain/assurance.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 0, 1);

describe('what a user has shown', () => {
  const cases: readonly (readonly [methods: readonly Method[], amr: readonly Amr[]])[] = [
    [['password'], ['pwd']],
    [['registration'], ['pwd']],
    [['totp'], ['otp']],
    [['recovery-code'], ['otp']],
    [['passkey'], ['pop', 'user']],
    [['verified-passkey'], ['pop', 'user', 'mfa']],
    [
      ['password', 'totp'],
      ['pwd', 'otp', 'mfa'],
    ],
    [
      ['registration', 'recovery-code'],
      ['pwd', 'otp', 'mfa'],
    ],
    [
      ['password', 'passkey'],
      ['pwd', 'pop', 'user', 'mfa'],
    ],
    // Two things that the user has are one kind of factor.
    [
      ['totp', 'passkey'],
      ['otp', 'pop', 'user'],
    ],
    [['totp', 'recovery-code'], ['otp']],
    [['password', 'password'], ['pwd']],
  ];

  // Proves: nist-1
  it.each(cases)('%j is %j', (methods, amr) => {
    expect(amrAfter([], methods)).toEqual(amr);
    expect(assuranceOf(amr)).toBe(amr.includes('mfa') ? 'aal2' : 'aal1');
  });

  it('adds up with what was shown before, in any order', () => {
    for (const [methods, amr] of cases) {
      for (const order of [methods, methods.toReversed()]) {
        const oneByOne = order.reduce<readonly Amr[]>((before, method) => amrAfter(before, [method]), []);
        expect(oneByOne).toEqual(amr);
      }
    }
  });

  it('counts from the last time', () => {
    const shown = [
      { method: 'password', at: NOW },
      { method: 'totp', at: NOW + MINUTE },
    ] as const;
    expect(authenticatedBy(shown)).toEqual({ authenticatedAt: NOW + MINUTE, amr: ['pwd', 'otp', 'mfa'] });
    expect(authenticatedBy([shown[1]], ['pwd'])).toEqual(authenticatedBy(shown));
  });
});

describe('a step-up', () => {
  const session = (age: number, amr: readonly Amr[] = ['pwd']) => ({ authenticatedAt: NOW - age, amr });
  const of = (isEnrolled: boolean) => ({ isEnrolled, now: NOW });

  it('is missing when the user has shown nothing recently', () => {
    const required = { recent: 5 * MINUTE };
    expect(missingStepUp(required, session(5 * MINUTE - 1), of(true))).toBeNull();
    expect(missingStepUp(required, session(5 * MINUTE), of(true))).toEqual({ maxAge: 5 * MINUTE });
    // Another instance, whose clock is ahead, has stored the time.
    expect(missingStepUp(required, session(-MINUTE), of(true))).toBeNull();
  });

  it('is missing when a user who has a second factor has not shown it', () => {
    const required = { assurance: 'aal2-if-enrolled' } as const;
    expect(missingStepUp(required, session(0), of(false))).toBeNull();
    expect(missingStepUp(required, session(0), of(true))).toEqual({ acr: 'aal2' });
    expect(missingStepUp(required, session(0, ['pwd', 'otp', 'mfa']), of(true))).toBeNull();
  });

  it('asks for the second factor first: it is recent then, too', () => {
    const required = { recent: 5 * MINUTE, assurance: 'aal2-if-enrolled' } as const;
    expect(missingStepUp(required, session(6 * MINUTE), of(true))).toEqual({ acr: 'aal2' });
    expect(missingStepUp(required, session(6 * MINUTE), of(false))).toEqual({ maxAge: 5 * MINUTE });
  });
});
