import type { Attributes } from './attributes.ts';

/** An invitation to register with an address, which has one at most. */
export type Invitation = {
  readonly id: string;
  /** Canonical. */
  readonly email: string;
  /** SHA-256 of the token in the link. The token itself is never stored. */
  readonly tokenHash: string;
  /** What the operator states about the user who registers with it. */
  readonly attributes: Attributes;
  readonly createdAt: number;
  readonly expiresAt: number;
};

/** Milliseconds for which an invitation is valid: seven days. */
export const INVITATION_LIFETIME = 7 * 86_400_000;

/** How many addresses may be invited at the same time. */
export const INVITATIONS_AT_MOST = 10_000;
