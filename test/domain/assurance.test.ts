// Proves ASVS 6.8.4; nist-1, nist-10
import { describe, expect, it } from 'vitest';
import {
  type Amr,
  type Authentications,
  amrAfter,
  assuranceOf,
  assuredAt,
  authenticatedBy,
  FACTOR_CHANGE,
  loginMethodOf,
  type Method,
  type MissingStepUp,
  missingStepUp,
  WITH_PASSWORD,
} from '../../src/domain/assurance.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = Date.UTC(2026, 0, 1);

describe('what a user has shown', () => {
  const cases = [
    ['password', 'pwd'],
    ['mail-code', 'mca'],
    // The mailbox stands for the password, so both are one kind.
    ['password mail-code', 'pwd mca'],
    ['mail-code totp', 'mca otp mfa'],
    ['identity', 'fed'],
    ['password mail-code identity', 'pwd mca fed'],
    ['identity totp', 'fed otp mfa'],
    ['adopted', 'adopted'],
    ['adopted totp', 'adopted otp mfa'],
    ['registration', 'pwd'],
    ['totp', 'otp'],
    ['recovery-code', 'otp'],
    ['passkey', 'pop user'],
    ['verified-passkey', 'pop user mfa'],
    ['password totp', 'pwd otp mfa'],
    ['registration recovery-code', 'pwd otp mfa'],
    ['password passkey', 'pwd pop user mfa'],
    // Two things that the user has are one kind of factor.
    ['totp passkey', 'otp pop user'],
    ['totp recovery-code', 'otp'],
    ['password password', 'pwd'],
  ].map(([methods = '', amr = '']) => [methods.split(' ') as Method[], amr.split(' ') as Amr[]] as const);

  it.each(cases)('%j is %j, at once and one by one in any order', (methods, amr) => {
    expect(amrAfter([], methods)).toEqual(amr);
    expect(assuranceOf(amr)).toBe(amr.includes('mfa') ? 'aal2' : 'aal1');
    for (const order of [methods, methods.toReversed()])
      expect(order.reduce<readonly Amr[]>((before, method) => amrAfter(before, [method]), [])).toEqual(amr);
  });

  it.each<[Amr[], ReturnType<typeof loginMethodOf>]>([
    [['pwd', 'otp', 'mfa'], 'password'],
    [['fed', 'pop', 'user', 'mfa'], 'provider'],
    [['pop', 'user', 'mfa'], 'passkey'],
    [['otp'], null],
  ])('a log-in with %j was made by %s', (amr, method) => {
    expect(loginMethodOf(amr)).toBe(method);
  });

  it('counts each kind from its last time', () => {
    const shown = [
      { method: 'password', at: NOW },
      { method: 'totp', at: NOW + MINUTE },
    ] as const;
    const both = {
      authenticatedAt: NOW + MINUTE,
      amr: ['pwd', 'otp', 'mfa'],
      knownAt: NOW,
      heldAt: NOW + MINUTE,
    } as const;
    expect(authenticatedBy(shown)).toEqual(both);
    expect(authenticatedBy([shown[1]], authenticatedBy([shown[0]]))).toEqual(both);
    const again = { method: 'password', at: NOW + 2 * MINUTE } as const;
    expect(authenticatedBy([again], both)).toEqual({ ...both, authenticatedAt: again.at, knownAt: again.at });
    // A machine whose clock is behind takes nothing back.
    expect(authenticatedBy([{ ...again, at: NOW - 1 }], both)).toMatchObject({ knownAt: NOW });
  });

  it.each<[Method, { known: boolean; held: boolean }]>([
    ['password', { known: true, held: false }],
    ['mail-code', { known: true, held: false }],
    ['adopted', { known: false, held: false }],
    ['registration', { known: true, held: false }],
    ['totp', { known: false, held: true }],
    ['recovery-code', { known: false, held: true }],
    ['passkey', { known: false, held: true }],
    ['verified-passkey', { known: true, held: true }],
  ])('%s is of these kinds: %j', (method, { known, held }) => {
    const { knownAt, heldAt } = authenticatedBy([{ method, at: NOW }]);
    expect({ known: knownAt === NOW, held: heldAt === NOW }).toEqual({ known, held });
  });
});

describe('the time of an assurance', () => {
  const password = (at: number) => ({ method: 'password', at }) as const;
  const code = (at: number) => ({ method: 'totp', at }) as const;

  it('is that of two factors in a session of two, whatever one of them was shown later', () => {
    const opened = authenticatedBy([password(NOW), code(NOW + 1)]);
    expect(assuredAt(opened)).toBe(NOW);
    const byPassword = authenticatedBy([password(NOW + MINUTE)], opened);
    expect(assuredAt(byPassword)).toBe(NOW + 1);
    expect(assuredAt(authenticatedBy([code(NOW + 2 * MINUTE)], byPassword))).toBe(NOW + MINUTE);
    expect(assuredAt(authenticatedBy([{ method: 'verified-passkey', at: NOW + MINUTE }], opened))).toBe(NOW + MINUTE);
  });

  it('is that of the last factor in a session of one kind', () => {
    const opened = authenticatedBy([password(NOW)]);
    expect(assuredAt(authenticatedBy([password(NOW + MINUTE)], opened))).toBe(NOW + MINUTE);
  });

  it('is long ago in an adopted session, until the user has shown something', () => {
    const adopted = authenticatedBy([{ method: 'adopted', at: NOW }]);
    expect(assuredAt(adopted)).toBe(0);
    expect(assuredAt(authenticatedBy([code(NOW)], adopted))).toBe(0);
    expect(assuredAt(authenticatedBy([password(NOW)], adopted))).toBe(NOW);
  });
});

describe('a step-up', () => {
  type Ages = { readonly known?: number; readonly held?: number };
  /** A session in which each kind was shown so long ago, or never. */
  const session = ({ known, held }: Ages) =>
    authenticatedBy([
      ...(known === undefined ? [] : [{ method: 'password', at: NOW - known } as const]),
      ...(held === undefined ? [] : [{ method: 'totp', at: NOW - held } as const]),
    ] as unknown as Authentications);
  const of = (isEnrolled: boolean) => ({ isEnrolled, now: NOW });
  const maxAge = 5 * MINUTE;

  it('is missing when the user has shown nothing recently', () => {
    const required = { recent: maxAge };
    expect(missingStepUp(required, session({ known: maxAge - 1 }), of(true))).toBeNull();
    expect(missingStepUp(required, session({ known: maxAge }), of(true))).toEqual({ maxAge });
    // Another instance, whose clock is ahead, has stored the time.
    expect(missingStepUp(required, session({ known: -MINUTE }), of(true))).toBeNull();
  });

  it('is never missing if it asks for nothing', () => {
    expect(missingStepUp({}, authenticatedBy([{ method: 'adopted', at: NOW }]), of(true))).toBeNull();
  });

  it('is missing beside a password when a user who has a second factor has not shown two, and that one lately', () => {
    const required = WITH_PASSWORD;
    expect(missingStepUp(required, session({ known: 0 }), of(false))).toBeNull();
    expect(missingStepUp(required, session({ known: 0 }), of(true))).toEqual({ acr: 'aal2' });
    expect(missingStepUp(required, session({ held: 0 }), of(true))).toEqual({ maxAge });
    expect(missingStepUp(required, session({ known: DAY, held: maxAge - 1 }), of(true))).toBeNull();
    expect(missingStepUp(required, session({ known: 0, held: maxAge }), of(true))).toEqual({ acr: 'aal2' });
    expect(missingStepUp(required, session({ known: DAY }), of(false))).toBeNull();
  });

  it.each<[Ages, MissingStepUp | null]>([
    [{ known: 0, held: 0 }, null],
    [{ known: maxAge - 1, held: maxAge - 1 }, null],
    [{ known: 0, held: maxAge }, { acr: 'aal2' }],
    [{ known: 0 }, { acr: 'aal2' }],
    [{ known: maxAge, held: 0 }, { maxAge }],
    [{ held: 0 }, { maxAge }],
    [
      { known: maxAge, held: maxAge },
      { acr: 'aal2', maxAge },
    ],
    [{ known: maxAge }, { acr: 'aal2', maxAge }],
  ])('for a change of factors, after %j, is missing: %j', (ages, missing) => {
    expect(missingStepUp(FACTOR_CHANGE, session(ages), of(true))).toEqual(missing);
  });

  it('for a change of factors by a user without a second one, takes anything recent', () => {
    for (const ages of [{ known: 0 }, { held: 0 }, { known: 0, held: DAY }, { known: DAY, held: 0 }])
      expect(missingStepUp(FACTOR_CHANGE, session(ages), of(false))).toBeNull();
    expect(missingStepUp(FACTOR_CHANGE, session({ known: maxAge, held: DAY }), of(false))).toEqual({ maxAge });
  });

  it('in an adopted session, takes what the user has shown here', () => {
    const adopted = authenticatedBy([{ method: 'adopted', at: NOW }]);
    expect(missingStepUp(FACTOR_CHANGE, adopted, of(false))).toEqual({ maxAge });
    expect(missingStepUp(FACTOR_CHANGE, authenticatedBy([{ method: 'totp', at: NOW }], adopted), of(false))).toBeNull();
  });
});
