import type { Service } from '../service.ts';
import type { OpenedSession } from '../sessions/open-session.ts';
import { NEVER_CANCELLED } from '../use-case.ts';
import type { RegisterInput } from './applicant.ts';
import { register, registerPending } from './register.ts';
import { registerUnverified } from './register-unverified.ts';

/** `null`: the user verifies the address first, or logs in without a password. `pendingLogin`: the user adds a second factor first. */
export type Registered = OpenedSession | { readonly pendingLogin: string } | null;

/** Registers a user in the way that the policies ask for. An invitation has proven the address. */
export const registration = (deps: Service) => {
  const [opening, pending, unverified] = [register(deps), registerPending(deps), registerUnverified(deps)];
  return async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<Registered> => {
    if (deps.emailVerification === 'required' && input.invitation === undefined && input.identity === undefined) {
      await unverified(input, cancellation);
      return null;
    }
    if (deps.secondFactor !== 'required') return opening(input, cancellation);
    const pendingLogin = await pending(input, cancellation);
    return pendingLogin === null ? null : { pendingLogin };
  };
};
