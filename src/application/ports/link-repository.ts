import type { Link, LinkPurpose } from '../../domain/link.ts';

/**
 * Stores links that were sent by email, by the hashes of their tokens.
 * - finds a link by its purpose and its token
 * - does not find one by the token of another purpose
 * - replaces the link of the same user and purpose that undoes from the same time on
 * - takes a link once, also when many take it at the same time
 * - finds the live links of a purpose that are about an address
 * - neither finds nor takes a link that has expired
 * - removes the links of a user, or those of some purposes
 * - purges expired links, and only those
 */
export interface LinkRepository {
  put(link: Link): Promise<void>;
  find(purpose: LinkPurpose, tokenHash: string, now: number): Promise<Link | null>;
  /** Removes a live link and returns it; `null` when there is none. One of several concurrent callers gets it. */
  take(purpose: LinkPurpose, tokenHash: string, now: number): Promise<Link | null>;
  /** The live links of all users about an address, in canonical form. */
  listByEmail(purpose: LinkPurpose, email: string, now: number): Promise<Link[]>;
  removeOfUser(userId: string, purposes: readonly LinkPurpose[]): Promise<void>;
  listByUser(userId: string, now: number): Promise<Link[]>;
  purge(now: number, limit: number): Promise<number>;
}
