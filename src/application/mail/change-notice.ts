import type { Origin } from '../../domain/event.ts';
import type { MessageKind, Notice } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import { HOUR, NOTICES_PER_HOUR, type NoticeDeps, sendsNotice } from '../notices.ts';
import type { Stores } from '../ports/transactions.ts';
import { enqueue } from '../record.ts';

/** The notices about factors, each with the event that it follows. */
export type FactorNotice =
  | 'passkey-added'
  | 'passkey-removed'
  | 'passkey-copy-suspected'
  | 'second-factor-added'
  | 'second-factor-removed'
  | 'recovery-code-used'
  | 'recovery-codes-made';

/** Those of them that are switched on with others than the factors. */
const NOTICE_OF: Partial<Record<MessageKind, Notice>> = { 'password-changed': 'password', 'locale-changed': 'email' };

/** With the language of the mail, if it is not the one at the time when it is sent. */
export type NotifiedUser = Pick<User, 'id' | 'email' | 'emailVerifiedAt'> & Partial<Pick<User, 'locale'>>;

type Change = {
  readonly kind: 'password-changed' | 'locale-changed' | FactorNotice;
  readonly user: NotifiedUser;
  readonly origin: Origin;
  /** When it happened: a link in the mail undoes what happened from then on. Epoch milliseconds; now by default. */
  readonly at?: number;
};

/**
 * Notifies a user of a new password or language, or of a change of a factor, after its event is stored. What an operator does is not
 * limited.
 */
export const notifyOfChange = async (
  deps: NoticeDeps,
  stores: Pick<Stores, 'events' | 'outbox'>,
  { kind, user, origin, at: createdAt = deps.clock.now() }: Change,
): Promise<void> => {
  if (!sendsNotice(deps, NOTICE_OF[kind] ?? 'factors')) return;
  const { id: userId, email: to, emailVerifiedAt, locale = null } = user;
  const countOfHour = () => stores.events.countSince(userId, kind, deps.clock.now() - HOUR);
  if ((origin.actor ?? null) === null && (await countOfHour()) > NOTICES_PER_HOUR) return;
  await enqueue(deps, stores, origin, [{ kind, userId, to, locale, wasVerified: emailVerifiedAt !== null, createdAt }]);
};

/** Whether a former address gets mail about a change, with a link that undoes it. */
export const notifiesFormerAddress = (deps: Pick<NoticeDeps, 'notices'>): boolean => sendsNotice(deps, 'email');
