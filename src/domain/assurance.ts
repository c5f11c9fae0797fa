/** What a user has shown to authenticate, and how much that assures (NIST SP 800-63B-4 §2, RFC 8176). */

/** What was shown. `verified-passkey`: a passkey whose device has verified its user. */
export type Method = 'password' | 'registration' | 'totp' | 'recovery-code' | 'passkey' | 'verified-passkey';

/** That a user has shown something. No session is opened or raised without one. */
export type Authentication = {
  readonly method: Method;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** At least one. */
export type Authentications = readonly [Authentication, ...Authentication[]];

/**
 * Values of the claim `amr` (RFC 8176 §2): a password, a one-time password, the proof that somebody has a key, the presence of a user,
 * several factors.
 */
export const AMR_VALUES = ['pwd', 'otp', 'pop', 'user', 'mfa'] as const;
export type Amr = (typeof AMR_VALUES)[number];

const VALUES: Readonly<Record<Method, readonly Amr[]>> = {
  password: ['pwd'],
  registration: ['pwd'],
  totp: ['otp'],
  'recovery-code': ['otp'],
  passkey: ['pop', 'user'],
  'verified-passkey': ['pop', 'user', 'mfa'],
};

/** The factors are of two kinds: what the user knows, and what the user has. */
const isOfTwoKinds = (values: ReadonlySet<Amr>): boolean =>
  values.has('pwd') && (values.has('otp') || values.has('pop'));

/** The `amr` of a session after its user has shown more, in the order of `AMR_VALUES`. */
export const amrAfter = (amr: readonly Amr[], methods: readonly Method[]): readonly Amr[] => {
  const values = new Set([...amr, ...methods.flatMap((method) => VALUES[method])]);
  if (isOfTwoKinds(values)) values.add('mfa');
  return AMR_VALUES.filter((value) => values.has(value));
};

/** The authentication assurance level of a session: `aal2` after two factors. Also the value of the claim `acr`. */
export type Assurance = 'aal1' | 'aal2';

export const assuranceOf = (amr: readonly Amr[]): Assurance => (amr.includes('mfa') ? 'aal2' : 'aal1');

/** What a session remembers of its user's authentication. A refresh changes neither. */
export type Authenticated = {
  /** When the user has shown something last. Epoch milliseconds. */
  readonly authenticatedAt: number;
  readonly amr: readonly Amr[];
};

export const authenticatedBy = (authentications: Authentications, amr: readonly Amr[] = []): Authenticated => ({
  authenticatedAt: Math.max(...authentications.map(({ at }) => at)),
  amr: amrAfter(
    amr,
    authentications.map(({ method }) => method),
  ),
});

/** What a route requires of the session of its request. */
export type StepUp = {
  /** The user has to have shown something within so many milliseconds. */
  readonly recent?: number;
  /** A user who has a second factor has to have shown it. */
  readonly assurance?: 'aal2-if-enrolled';
};

/** What is missing: the parameters of a challenge (RFC 9470 §3). */
export type MissingStepUp = { readonly acr: 'aal2' } | { readonly maxAge: number };

/** What a session misses of a requirement; `null` if nothing. */
export const missingStepUp = (
  { recent, assurance }: StepUp,
  { authenticatedAt, amr }: Authenticated,
  { isEnrolled, now }: { readonly isEnrolled: boolean; readonly now: number },
): MissingStepUp | null => {
  if (assurance === 'aal2-if-enrolled' && isEnrolled && assuranceOf(amr) !== 'aal2') return { acr: 'aal2' };
  if (recent !== undefined && now - authenticatedAt >= recent) return { maxAge: recent };
  return null;
};
