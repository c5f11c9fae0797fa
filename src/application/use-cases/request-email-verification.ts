import { canonicalEmail } from '../../domain/account.ts';
import { NO_ORIGIN } from '../../domain/event.ts';
import type { Outbox } from '../ports/outbox.ts';
import { type RecordDeps, tell } from '../steps/record.ts';

export type RequestEmailVerificationDeps = RecordDeps & { readonly outbox: Outbox };

/** Asks for another link that proves an address. Whether the address has an account is looked up when the link is sent. */
export const requestEmailVerification =
  (deps: RequestEmailVerificationDeps) =>
  (email: string, origin = NO_ORIGIN): Promise<void> =>
    tell(deps, deps, origin, [{ kind: 'email-verification-request', userId: null, to: canonicalEmail(email) }]);
