import { AppError } from '../../domain/errors/app-error.ts';
import type { Link, LinkPurpose } from '../../domain/link.ts';
import type { MessageKind } from '../../domain/message.ts';
import type { Clock } from '../ports/clock.ts';
import type { LinkTokens } from '../ports/link-tokens.ts';
import type { Stores } from '../ports/unit-of-work.ts';

export type LinkDeps = { readonly linkTokens: LinkTokens; readonly clock: Clock };

export const invalidLink = (reason: string): AppError => new AppError('AUTH_LINK_INVALID', { reason });

const NOT_LIVE = 'there is no such link any more';

/**
 * Finds the link of a token, without using it up. Units of work change the user before they take the link: units that lock the same rows
 * in different orders would deadlock.
 * @throws AppError AUTH_LINK_INVALID
 */
export const findLink = async (
  { linkTokens, clock }: LinkDeps,
  { links }: Pick<Stores, 'links'>,
  purpose: LinkPurpose,
  token: string,
): Promise<Link> => {
  const link = await links.find(purpose, linkTokens.hashOf(token), clock.now());
  if (link === null) throw invalidLink(NOT_LIVE);
  return link;
};

/**
 * Uses a link up. One of several concurrent callers succeeds.
 * @throws AppError AUTH_LINK_INVALID
 */
export const takeLink = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  { purpose, tokenHash }: Pick<Link, 'purpose' | 'tokenHash'>,
): Promise<void> => {
  const taken = await links.take(purpose, tokenHash, clock.now());
  if (taken === null) throw invalidLink(NOT_LIVE);
};

/** The kind of message that sends the links of each purpose. */
const SENT_IN: Readonly<Record<LinkPurpose, MessageKind>> = {
  'password-reset': 'password-reset',
  'email-verification': 'email-verification',
  'not-me': 'email-verification',
  'email-change': 'email-change',
  'email-change-undo': 'email-changed',
};

/**
 * Removes links of a user, and the messages that would send new ones. The messages come first: a message that is being prepared is locked
 * until its links are stored.
 */
export const withdrawLinks = async (
  { links, outbox }: Pick<Stores, 'links' | 'outbox'>,
  userId: string,
  purposes: readonly LinkPurpose[],
): Promise<void> => {
  const kinds = purposes.map((purpose) => SENT_IN[purpose]);
  const waiting = (await outbox.listByUser(userId)).filter(({ kind }) => kinds.includes(kind));
  await outbox.remove(waiting.map(({ id }) => id));
  await links.removeOfUser(userId, purposes);
};
