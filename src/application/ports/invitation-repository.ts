import type { Invitation } from '../../domain/invitation.ts';

/**
 * Stores invitations, one for each address.
 * - finds an invitation by its address, and by its token
 * - replaces the invitation of the same address
 * - takes an invitation once, also when many take it at the same time
 * - does not take one that was replaced
 * - neither finds, takes nor lists an invitation that has expired
 * - lists the invitations in the order of their addresses
 * - purges expired invitations, and only those
 */
export interface InvitationRepository {
  put(invitation: Invitation): Promise<void>;
  findByEmail(email: string, now: number): Promise<Invitation | null>;
  findByToken(tokenHash: string, now: number): Promise<Invitation | null>;
  /** Removes a live invitation that was found. @returns whether this caller did so: one of several concurrent ones does. */
  take(invitation: Pick<Invitation, 'email' | 'tokenHash'>, now: number): Promise<boolean>;
  list(now: number, limit: number): Promise<Invitation[]>;
  purge(now: number, limit: number): Promise<number>;
}
