import * as v from 'valibot';
import { registerByPolicy } from '../../../../application/accounts/register.ts';
import type { Service } from '../../../../application/service.ts';
import type { PasswordLimits } from '../../../../domain/password.ts';
import { Email, Extra, LinkToken, Locale, LoginResult, newPassword, Proof, Username } from '../../../json/fields.ts';
import { type DeviceAccess, loginSourceOf, PROOF_ERRORS } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { sendSession } from '../login/login.ts';

const memberSchemas = (limits: PasswordLimits) => ({
  username: Username,
  email: Email,
  password: newPassword(limits),
  locale: v.optional(Locale),
  invitation: v.optional(LinkToken),
  extra: v.optional(Extra),
  proof: v.optional(Proof),
});

const passwordlessBody = (limits: PasswordLimits) =>
  v.object({ ...memberSchemas(limits), username: v.optional(Username), password: v.optional(newPassword(limits)) });
export type PasswordlessRegisterBody = ReturnType<typeof passwordlessBody>;

export const registerBody = ({ passwords, passwordLimits }: Service) =>
  passwords === 'optional' ? passwordlessBody(passwordLimits) : v.object(memberSchemas(passwordLimits));

/**
 * With EMAIL_VERIFICATION=required, the response does not tell whether the address has an account (ADR 0010), unless an invitation has proven it.
 * With SECOND_FACTOR=required, the user adds a factor in a pending log-in (ADR 0009).
 */
export const registerRoute = (deps: Service, deviceAccess: DeviceAccess): Route => {
  const needsVerification = deps.emailVerification === 'required';
  const needsFactor = deps.secondFactor === 'required';
  const opensSession = !needsVerification && !needsFactor;
  const firstStep = needsVerification ? 'verifies the email address' : 'adds a second factor';
  const pendingSummary = `Register a user, who ${firstStep} before the first log-in`;
  const register = registerByPolicy(deps);
  return route({
    name: 'register',
    tag: 'tokens',
    summary: opensSession ? 'Register a user and open a session' : pendingSummary,
    description:
      'Where mail is configured, the address gets a link that verifies it. 202 without a session: with EMAIL_VERIFICATION=required, also for an address that has an account, and with SECOND_FACTOR=required, where the user adds an app first. Another registration with the same username and password corrects an address that was not verified. With PASSWORDS=optional, `email` is enough.',
    at: 'POST /auth/register',
    auth: 'public',
    throttle: 'strict',
    cookie: { writes: opensSession ? 'opens' : needsVerification ? 'may-set' : 'waits' },
    request: { body: registerBody(deps) },
    response: {
      ...(opensSession ? { status: 201 } : { status: 202, ...(!needsFactor && { otherStatus: 201 }) }),
      data: opensSession ? LoginResult : needsFactor ? v.null() : v.nullable(LoginResult),
    },
    errors: [
      ...(['AUTH_REGISTRATION_CLOSED', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE'] as const),
      ...(['AUTH_USER_DUPLICATE', 'DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'] as const),
      ...PROOF_ERRORS,
    ],
    handler: async ({ body: { proof, ...applicant }, signal }, ctx) => {
      const { locales, origin, presented, networks } = loginSourceOf(ctx, deviceAccess, proof);
      const input = { ...applicant, locales: applicant.locale === undefined ? locales : [applicant.locale] };
      const outcome = await register({ ...input, origin, presented, networks }, signal);
      if (outcome !== null && 'pendingLogin' in outcome) deviceAccess.pendingLogin.set(ctx, outcome.pendingLogin);
      if (outcome === null || 'pendingLogin' in outcome) return null;
      ctx.state.status = 201;
      return sendSession(ctx, deviceAccess, outcome);
    },
  });
};
