import type { Attributes } from './attributes.ts';
import { AppError } from './errors/app-error.ts';
import { canonicalEmail } from './user.ts';

export type RegistrationPolicy = {
  readonly mode: 'open' | 'invited' | 'closed';
  /** `example.com` is that domain alone, `.example.com` its subdomains. In ASCII and lower case. Empty: all domains. */
  readonly domains: readonly string[];
};

const OPEN_POLICY: RegistrationPolicy = { mode: 'open', domains: [] };

/**
 * Refuses a registration by the policy and the domain of the address alone. Whether the address has an account makes no difference.
 * @param isInvited whether the user presents an invitation. Operators may invite addresses of any domain.
 * @throws AppError AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED
 */
export const assertMayRegister = (policy: RegistrationPolicy = OPEN_POLICY, email: string, isInvited = false): void => {
  if (policy.mode === 'closed') throw new AppError('AUTH_REGISTRATION_CLOSED');
  if (isInvited) return;
  if (policy.mode === 'invited')
    throw new AppError('AUTH_REGISTRATION_CLOSED', { message: 'Registration is by invitation.' });
  assertDomainAllowed(policy, email);
};

/** @throws AppError AUTH_REGISTRATION_REFUSED */
export const assertDomainAllowed = ({ domains }: RegistrationPolicy = OPEN_POLICY, email: string): void => {
  const [, domain = ''] = canonicalEmail(email).split('@');
  const isAllowed = domains.some((each) => (each.startsWith('.') ? domain.endsWith(each) : domain === each));
  if (domains.length > 0 && !isAllowed)
    throw new AppError('AUTH_REGISTRATION_REFUSED', {
      message: 'Registration with this email address is not allowed.',
    });
};

/** An invitation to register. An address has one at most. */
export type Invitation = {
  readonly id: string;
  /** In canonical form. */
  readonly email: string;
  /** SHA-256 of the token in the link. The token itself is never stored. */
  readonly tokenHash: string;
  /** The attributes of the user who registers with the invitation. */
  readonly attributes: Attributes;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export const INVITATION_LIFETIME = 7 * 86_400_000;

export const MAX_INVITATIONS = 10_000;
