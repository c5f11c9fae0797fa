import { assuranceOf } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { actorOfPerson, type Operator, scopesOf } from '../../domain/operator.ts';
import { invalidCode } from '../login-code.ts';
import type { Service } from '../service.ts';
import { type Caller, liveSession } from '../sessions/current-user.ts';
import { useOnce } from '../storage/credentials.ts';
import { hasFactor, type PresentedCode, verifiedCode } from './app-code.ts';

/** Milliseconds after which a visitor of the back office has to log in again. */
export const OFFICE_LIFETIME = 60 * 60_000;

const notOperator = (message: string): AppError =>
  new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason: 'no operator', message });

/**
 * The user of a session as an operator (ADR 0031). Each request checks this again, so that access ends with the session, the attribute, or the factors.
 * The name contains the id, since usernames may change hands.
 * @throws what `liveSession` throws; AppError SYS_HTTP_UNEXPECTED_ERROR with the status 403 for a user who is no operator, or lacks factors
 */
export const operatorIn = async (deps: Service, caller: Caller): Promise<Operator> => {
  const found = await liveSession(deps, caller);
  const { user, session } = found;
  const scopes = scopesOf(deps.adminUsers, user.attributes);
  if (scopes.length === 0) throw notOperator('This user is no operator: no attribute is one of ADMIN_USERS.');
  if (assuranceOf(session.amr) !== 'aal2' || !(await hasFactor(deps, found)))
    throw notOperator('Operators need a passkey or a second factor. Add one to your account, and log in again.');
  return { name: actorOfPerson(`${user.username} ${user.id}`), scopes };
};

/**
 * Finishes the log-in of an operator, in the browser that has begun it.
 * @returns a signed text with the session, for a cookie. @throws AppError AUTH_CODE_INVALID, and what `operatorIn` throws
 */
export const openOffice = async (deps: Service, presented: PresentedCode): Promise<string> => {
  const { id, caller, expiresAt } = verifiedCode(deps, presented, 'office-code');
  await operatorIn(deps, caller);
  if (!(await useOnce(deps.records, `office-code ${id}`, expiresAt))) throw invalidCode('it was used before');
  const until = deps.clock.now() + OFFICE_LIFETIME;
  return deps.secrets.sign({ purpose: 'office', ...caller, value: '', expiresAt: until });
};
