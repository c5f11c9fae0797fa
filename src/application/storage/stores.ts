import type { EndedSessions } from '../ports/ended-sessions.ts';
import type { EventRepository } from '../ports/event-repository.ts';
import type { FactorRepository } from '../ports/factor-repository.ts';
import type { IdentityRepository } from '../ports/identity-repository.ts';
import type { InvitationRepository } from '../ports/invitation-repository.ts';
import type { LinkRepository } from '../ports/link-repository.ts';
import type { MassEndings } from '../ports/mass-endings.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { PasskeyRepository } from '../ports/passkey-repository.ts';
import type { RememberedDeviceRepository } from '../ports/remembered-device-repository.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { UsedValues } from '../ports/used-values.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { WebhookRepository } from '../ports/webhook-repository.ts';
import type { OwnRecords } from './records.ts';

/**
 * What is changed together. Of each of them: what belongs to a user goes with the user, and a call rejects with DB_QUERY_FAILED alone when the
 * store fails. The contract of `Records` proves that for all.
 */
export type Stores = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly events: EventRepository;
  readonly endings: EndedSessions;
  readonly links: LinkRepository;
  readonly invitations: InvitationRepository;
  readonly outbox: Outbox;
  readonly used: UsedValues;
  readonly passkeys: PasskeyRepository;
  readonly identities: IdentityRepository;
  readonly factors: FactorRepository;
  readonly devices: RememberedDeviceRepository;
  readonly massEndings: MassEndings;
  readonly webhooks: WebhookRepository;
  /** Tables of the application. A storage that is not over `Records` may have none. */
  readonly records?: OwnRecords;
};

export type Storage = Stores & { readonly transactions: Transactions };

/**
 * Changes several stores together.
 * - keeps all changes when the work succeeds, and returns its result
 * - keeps none when the work rejects, and rejects with the same error
 * - shows the changes to nobody before the work has ended
 * - shows its own changes to the work
 * - neither undoes nor delays for long what others change meanwhile
 * - runs the work again when it conflicts with another
 * - keeps all changes or rejects, when the work goes on after a store has refused a change
 * - keeps all changes or rejects, when the work goes on after a conflict
 * - makes other writers of a user whom it has locked or changed wait, and shows them its changes
 * - keeps exactly 50 sessions of a user who logs in many times at once
 * - rejects a transaction within another
 * - rejects with DB_QUERY_FAILED alone when its store fails
 *
 * A store may run its transactions one after the other, which keeps the promises about concurrent transactions. Reads outside of a transaction must not see
 * its changes before its end, and writes outside of it must not be lost.
 *
 * @example
 * await transactions.run(async ({ users, events }) => {
 *   await users.add(user);
 *   await events.add([registered]);
 * });
 */
export interface Transactions {
  /**
   * @param work uses the given stores alone, and changes nothing else, since it may run twice. It does not rotate sessions.
   * @throws what the work throws; AppError DB_QUERY_FAILED when it is not known whether the changes were kept, SYS_UNEXPECTED_ERROR
   *   within another transaction.
   */
  run<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result>;
}
