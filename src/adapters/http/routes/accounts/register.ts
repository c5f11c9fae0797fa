import * as v from 'valibot';
import { registerByPolicy } from '../../../../application/accounts/register.ts';
import type { Service } from '../../../../application/service.ts';
import type { PasswordLimits } from '../../../../domain/password.ts';
import { Email, Extra, LinkToken, Locale, LoginResult, newPassword, Proof, Username } from '../../../json/fields.ts';
import { type DeviceAccess, loginSourceOf, PROOF_ERRORS } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { sendSession } from '../login/login.ts';

const membersOf = (limits: PasswordLimits) => ({
  username: Username,
  email: Email,
  password: newPassword(limits),
  locale: v.optional(Locale),
  invitation: v.optional(LinkToken),
  extra: v.optional(Extra),
  proof: v.optional(Proof),
});

/** The body with PASSWORDS=optional. */
const shortBody = (limits: PasswordLimits) =>
  v.object({ ...membersOf(limits), username: v.optional(Username), password: v.optional(newPassword(limits)) });
export type ShortRegisterBody = ReturnType<typeof shortBody>;

export const registerBody = ({ passwords, passwordLimits }: Service) =>
  passwords === 'optional' ? shortBody(passwordLimits) : v.object(membersOf(passwordLimits));

/**
 * With EMAIL_VERIFICATION=required, the response does not tell whether the address has an account (ADR 0010), unless an invitation has proven it.
 * With SECOND_FACTOR=required, the user adds a factor in a pending log-in (ADR 0009).
 */
export const registerRoute = (deps: Service, access: DeviceAccess): Route => {
  const verifies = deps.emailVerification === 'required';
  const enrols = deps.secondFactor === 'required';
  const opens = !verifies && !enrols;
  const first = verifies ? 'verifies the email address' : 'adds a second factor';
  const run = registerByPolicy(deps);
  return route({
    name: 'register',
    tag: 'tokens',
    summary: opens ? 'Register a user and open a session' : `Register a user, who ${first} before the first log-in`,
    description:
      'Where mail is configured, the address gets a link that verifies it. 202 without a session: with EMAIL_VERIFICATION=required, also for an address that has an account, and with SECOND_FACTOR=required, where the user adds an app first. Another registration with the same username and password corrects an address that was not verified. With PASSWORDS=optional, `email` is enough.',
    at: 'POST /auth/register',
    auth: 'public',
    throttle: 'strict',
    cookie: { writes: opens ? 'opens' : verifies ? 'may-set' : 'waits' },
    request: { body: registerBody(deps) },
    response: {
      ...(opens ? { status: 201 } : { status: 202, ...(!enrols && { or: 201 }) }),
      data: opens ? LoginResult : enrols ? v.null() : v.nullable(LoginResult),
    },
    errors: [
      ...(['AUTH_REGISTRATION_CLOSED', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE'] as const),
      ...(['AUTH_USER_DUPLICATE', 'DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'] as const),
      ...PROOF_ERRORS,
    ],
    handler: async ({ body: { proof, ...applicant }, signal }, ctx) => {
      const { locales, origin, presented, networks } = loginSourceOf(ctx, access, proof);
      const asked = applicant.locale === undefined ? locales : [applicant.locale];
      const registered = await run({ ...applicant, locales: asked, origin, presented, networks }, signal);
      if (registered !== null && 'pendingLogin' in registered) access.pendingLogin.set(ctx, registered.pendingLogin);
      if (registered === null || 'pendingLogin' in registered) return null;
      ctx.state.status = 201;
      return sendSession(ctx, access, registered);
    },
  });
};
