import type { OperatorRule } from './operator.ts';
import type { User } from './user.ts';

/** How users authenticate, and the assurance level that this gives (NIST SP 800-63B-4 §2, RFC 8176). */

export type Authentication = { readonly method: Method; readonly at: number };

export type Authentications = readonly [Authentication, ...Authentication[]];

/**
 * Values of the claim `amr` (RFC 8176 §2): a password, a code by mail (another channel), a log-in at a provider, a session of the former system,
 * a one-time password, proof of possession of a key, the presence of a user, several factors. `fed` and `adopted` are not registered.
 */
export const AMR_VALUES = ['pwd', 'mca', 'fed', 'adopted', 'otp', 'pop', 'user', 'mfa'] as const;
export type Amr = (typeof AMR_VALUES)[number];

/** The kinds of factors: something that the user knows, and something that the user has. */
type FactorKind = 'known' | 'held';

/** The methods of authentication, with their values of `amr` and the kinds of factors for which they count. */
const METHODS = {
  password: { amr: ['pwd'], kinds: ['known'] },
  // A code by mail shows that the user knows the password of the mailbox, and proves no device.
  'mail-code': { amr: ['mca'], kinds: ['known'] },
  // A provider may state factors that the user has presented there. They do not count at this service.
  identity: { amr: ['fed'], kinds: ['known'] },
  // The user has presented nothing to this service.
  adopted: { amr: ['adopted'], kinds: [] },
  registration: { amr: ['pwd'], kinds: ['known'] },
  'registration-without-password': { amr: [], kinds: [] },
  totp: { amr: ['otp'], kinds: ['held'] },
  'recovery-code': { amr: ['otp'], kinds: ['held'] },
  passkey: { amr: ['pop', 'user'], kinds: ['held'] },
  // A key, and the PIN or the finger that unlocks its device.
  'verified-passkey': { amr: ['pop', 'user', 'mfa'], kinds: ['known', 'held'] },
} as const satisfies Readonly<Record<string, { readonly amr: readonly Amr[]; readonly kinds: readonly FactorKind[] }>>;
export type Method = keyof typeof METHODS;

/** The methods of a log-in, before a second factor, by their values of `amr`. A log-in by a recovery code alone has none of them. */
const LOGIN_METHODS = {
  pwd: 'password',
  fed: 'provider',
  mca: 'mail-code',
  adopted: 'adopted',
  pop: 'passkey',
} as const;
export type LoginMethod = (typeof LOGIN_METHODS)[keyof typeof LOGIN_METHODS];
export const LOGIN_METHOD_NAMES: readonly LoginMethod[] = Object.values(LOGIN_METHODS);

export const loginMethodOf = (amr: readonly Amr[]): LoginMethod | null =>
  Object.entries(LOGIN_METHODS).find(([value]) => amr.some((each) => each === value))?.[1] ?? null;

const FIRST_FACTORS: readonly Amr[] = ['pwd', 'mca', 'fed', 'adopted'];

const hasTwoKinds = (values: ReadonlySet<Amr>): boolean =>
  FIRST_FACTORS.some((value) => values.has(value)) && (values.has('otp') || values.has('pop'));

/** The `amr` of a session after further authentications, in the order of `AMR_VALUES`. */
export const amrAfter = (amr: readonly Amr[], methods: readonly Method[]): readonly Amr[] => {
  const values = new Set([...amr, ...methods.flatMap((method) => METHODS[method].amr)]);
  if (hasTwoKinds(values)) values.add('mfa');
  return AMR_VALUES.filter((value) => values.has(value));
};

/** The authentication assurance level of a session: `aal2` after two factors. Also the value of the claim `acr`. */
export type Assurance = 'aal1' | 'aal2';

export const assuranceOf = (amr: readonly Amr[]): Assurance => (amr.includes('mfa') ? 'aal2' : 'aal1');

/** How and when the user of a session has authenticated. A refresh changes none of these fields. Times are epoch milliseconds. */
export type Authenticated = {
  readonly authenticatedAt: number;
  readonly amr: readonly Amr[];
  /** When the user last presented something that they know; `null`: not yet. */
  readonly knownAt: number | null;
  /** When the user last presented something that they have; `null`: not yet. */
  readonly heldAt: number | null;
};

const NOT_AUTHENTICATED: Omit<Authenticated, 'authenticatedAt'> = { amr: [], knownAt: null, heldAt: null };

const latest = (before: number | null, times: readonly number[]): number | null =>
  times.reduce<number | null>((a, b) => Math.max(a ?? b, b), before);

export const authenticatedBy = (authentications: Authentications, before = NOT_AUTHENTICATED): Authenticated => {
  const timesOf = (kind: FactorKind) =>
    authentications.filter(({ method }) => METHODS[method].kinds.some((each) => each === kind)).map(({ at }) => at);
  return {
    authenticatedAt: Math.max(...authentications.map(({ at }) => at)),
    amr: amrAfter(
      before.amr,
      authentications.map(({ method }) => method),
    ),
    knownAt: latest(before.knownAt, timesOf('known')),
    heldAt: latest(before.heldAt, timesOf('held')),
  };
};

/** When the user last authenticated here; `null`: only the former system has authenticated the user. */
const presentedAt = ({ authenticatedAt, amr }: Pick<Authenticated, 'authenticatedAt' | 'amr'>): number | null =>
  amr.length === 1 && amr[0] === 'adopted' ? null : authenticatedAt;

/**
 * The claim `auth_time`: when the user last presented all that the assurance of the session requires. For `aal2`, that is both kinds of factors.
 * 0 if the former system has authenticated the user instead, wholly or for one of these factors.
 */
export const assuredAt = ({ authenticatedAt, amr, knownAt, heldAt }: Authenticated): number =>
  assuranceOf(amr) === 'aal2' ? Math.min(knownAt ?? 0, heldAt ?? 0) : (presentedAt({ authenticatedAt, amr }) ?? 0);

export type StepUp = {
  /** The most milliseconds that may have passed since the user authenticated. Without both members, nothing is required. */
  readonly recent?: number;
  /** A user with a second factor needs both kinds of factors, within `recent`. Without `recent`, only the second factor has to be of the last five minutes. */
  readonly assurance?: 'aal2-if-enrolled';
};

const STEP_UP_AGE = 5 * 60_000;

/** The user has to authenticate again after five minutes, so that a session that is stolen later is not enough. */
export const RECENT_AUTHENTICATION = { recent: STEP_UP_AGE } as const satisfies StepUp;

/** For changes of factors: if the user has a second factor, a session that is stolen later is not enough, even with a stolen password. */
export const FACTOR_CHANGE = { recent: STEP_UP_AGE, assurance: 'aal2-if-enrolled' } as const satisfies StepUp;

/** For requests that contain the password, or a code by mail: they lack only a second factor, if the user has one. */
export const WITH_PASSWORD = { assurance: 'aal2-if-enrolled' } as const satisfies StepUp;

/**
 * The parameters of a challenge (RFC 9470 §3). `acr` asks for a second factor. `maxAge`, in milliseconds, asks for the password or another factor that
 * the user knows; a user without a second factor may present any factor. If both are set, the user may begin with either.
 */
export type MissingStepUp = { readonly acr?: 'aal2'; readonly maxAge?: number };

export const missingStepUp = (
  { recent, assurance }: StepUp,
  { authenticatedAt, amr, knownAt, heldAt }: Authenticated,
  { isEnrolled, now }: { readonly isEnrolled: boolean; readonly now: number },
): MissingStepUp | null => {
  if (recent === undefined && assurance === undefined) return null;
  const maxAge = recent ?? STEP_UP_AGE;
  const isMissing = (at: number | null, age = recent) => at === null || (age !== undefined && now - at >= age);
  if (assurance !== 'aal2-if-enrolled' || !isEnrolled)
    return isMissing(presentedAt({ authenticatedAt, amr })) ? { maxAge } : null;
  const missing = { ...(isMissing(heldAt, maxAge) && { acr: 'aal2' as const }), ...(isMissing(knownAt) && { maxAge }) };
  return Object.keys(missing).length === 0 ? null : missing;
};

export type SecondFactorPolicy = {
  /** `required`: every user needs a second factor to log in. Default: optional. */
  readonly secondFactor?: 'optional' | 'required' | undefined;
  /** Which users are operators. Default: none. */
  readonly adminUsers?: readonly OperatorRule[];
};

export const needsSecondFactor = (
  { secondFactor }: SecondFactorPolicy,
  { secondFactorAt }: Pick<User, 'secondFactorAt'>,
): boolean => secondFactorAt !== null || secondFactor === 'required';

export const lacksSecondFactor = (
  policy: SecondFactorPolicy,
  user: Pick<User, 'secondFactorAt'>,
  { amr }: Pick<Authenticated, 'amr'>,
): boolean => needsSecondFactor(policy, user) && assuranceOf(amr) !== 'aal2';
