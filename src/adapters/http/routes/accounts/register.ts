import type { Context } from 'koa';
import * as v from 'valibot';
import { registration } from '../../../../application/accounts/registration.ts';
import type { Service } from '../../../../application/service.ts';
import { Email, Extra, LinkToken, Locale, NewPassword, Proof, Username } from '../../../json/fields.ts';
import { clientNetworks, originOf } from '../../request/client.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { handOver, LoginResult } from '../login/login.ts';
import { type DeviceAccess, PROOF_ERRORS } from '../sessions/refresh.ts';

const MEMBERS = {
  username: Username,
  email: Email,
  password: NewPassword,
  locale: v.optional(Locale),
  invitation: v.optional(LinkToken),
  extra: v.optional(Extra),
  proof: v.optional(Proof),
};

const RegisterBody = v.pipe(
  v.object(MEMBERS),
  v.examples([{ username: 'ada', email: 'ada@example.org', password: 'correct horse' }]),
);

/** With PASSWORDS=optional. */
export const ShortRegisterBody = v.pipe(
  v.object({ ...MEMBERS, username: v.optional(Username), password: v.optional(NewPassword) }),
  v.examples([{ email: 'ada@example.org' }]),
);

export const registerBody = ({ passwords }: Service) => (passwords === 'optional' ? ShortRegisterBody : RegisterBody);

/** The languages of a registration: that of its body, or those of the browser. */
const localesOf = (ctx: Context, { locale }: { readonly locale?: string | undefined }): readonly string[] =>
  locale === undefined ? acceptedLocales(ctx) : [locale];

/**
 * If log-ins need a verified address, the response does not depend on whether the address has an account (ADR 0010), unless an invitation has
 * proven it. If they need a second factor, the user adds it in a pending log-in (ADR 0009).
 */
export const registerRoute = (deps: Service, access: DeviceAccess): Route => {
  const declaration = {
    name: 'register',
    tag: 'tokens',
    method: 'POST',
    path: '/auth/register',
    auth: 'public',
    throttle: 'strict',
    request: { body: registerBody(deps) },
    errors: [
      ...(['AUTH_REGISTRATION_CLOSED', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE'] as const),
      ...(['AUTH_USER_DUPLICATE', 'DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'] as const),
      ...PROOF_ERRORS,
    ],
  } as const;
  const inputOf = ({ proof, ...body }: v.InferOutput<typeof ShortRegisterBody>, ctx: Context) => ({
    ...{ ...body, locales: localesOf(ctx, body), origin: originOf(ctx) },
    ...{ presented: access.device(ctx, proof), networks: clientNetworks(ctx) },
  });
  const verifies = deps.emailVerification === 'required';
  const enrols = deps.secondFactor === 'required';
  const opens = !verifies && !enrols;
  const first = verifies ? 'verifies the email address' : 'adds a second factor';
  const run = registration(deps);
  return route(
    {
      ...declaration,
      summary: opens ? 'Register a user and open a session' : `Register a user, who ${first} before the first log-in`,
      cookie: { writes: opens ? 'opens' : verifies ? 'may-set' : 'waits' },
      response: {
        ...(opens ? { status: 201 } : { status: 202, ...(!enrols && { or: 201 }) }),
        data: opens ? LoginResult : enrols ? v.null() : v.nullable(LoginResult),
      },
    },
    async ({ body, signal }, ctx) => {
      const registered = await run(inputOf(body, ctx), signal);
      if (registered !== null && 'pendingLogin' in registered) access.pendingLogin.set(ctx, registered.pendingLogin);
      if (registered === null || 'pendingLogin' in registered) return null;
      ctx.state.status = 201;
      return handOver(ctx, access, registered);
    },
  );
};
