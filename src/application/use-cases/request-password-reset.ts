import { canonicalEmail } from '../../domain/account.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { Outbox } from '../ports/outbox.ts';
import { type RecordDeps, tell } from '../steps/record.ts';

export type RequestPasswordResetDeps = RecordDeps & { readonly outbox: Outbox };

/**
 * Asks for a link with which the owner of an address can choose a new password. Whether the address has an account is looked up when the
 * message is sent: until then every address costs the same.
 */
export const requestPasswordReset =
  (deps: RequestPasswordResetDeps) =>
  (email: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    tell(deps, deps, origin, [{ kind: 'password-reset-request', userId: null, to: canonicalEmail(email) }]);
