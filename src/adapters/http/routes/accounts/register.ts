import type { Context } from 'koa';
import * as v from 'valibot';
import { register, registerPending } from '../../../../application/accounts/register.ts';
import { registerUnverified } from '../../../../application/accounts/register-unverified.ts';
import type { AccountsDeps, PasswordsPolicy } from '../../../../application/deps.ts';
import { originOf } from '../../request/client.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { Email, Extra, Locale, NewPassword, Proof, Username } from '../../routing/fields.ts';
import { handOver, LoginResult } from '../login/login.ts';
import { type DeviceAccess, PROOF_ERRORS } from '../sessions/refresh.ts';

const MEMBERS = {
  username: Username,
  email: Email,
  password: NewPassword,
  locale: v.optional(Locale),
  extra: v.optional(Extra),
  proof: v.optional(Proof),
};

export const RegisterBody = v.pipe(
  v.object(MEMBERS),
  v.examples([{ username: 'ada', email: 'ada@example.org', password: 'correct horse' }]),
);

/** With PASSWORDS=optional. */
export const ShortRegisterBody = v.pipe(
  v.object({ ...MEMBERS, username: v.optional(Username), password: v.optional(NewPassword) }),
  v.examples([{ email: 'ada@example.org' }]),
);

export const registerBody = ({ passwords }: PasswordsPolicy) =>
  passwords === 'optional' ? ShortRegisterBody : RegisterBody;

/** The languages of a registration: that of its body, or those of the browser. */
const localesOf = (ctx: Context, { locale }: { readonly locale?: string | undefined }): readonly string[] =>
  locale === undefined ? acceptedLocales(ctx) : [locale];

/**
 * If log-ins need a verified address, the response does not depend on whether the address has an account (ADR 0010). If they need a second
 * factor, the user adds it in a pending log-in (ADR 0009).
 */
export const registerRoute = (deps: AccountsDeps, access: DeviceAccess): Route => {
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
  if (deps.emailVerification === 'required') {
    const run = registerUnverified(deps);
    const summary = 'Register a user, who verifies the email address before the first log-in';
    return route(
      { ...declaration, summary, response: { status: 202, data: v.null() } },
      async ({ body, signal }, ctx) => {
        await run({ ...body, locales: localesOf(ctx, body), origin: originOf(ctx) }, signal);
        return null;
      },
    );
  }
  if (deps.secondFactor === 'required') {
    const run = registerPending(deps);
    const summary = 'Register a user, who adds a second factor before the first log-in';
    return route(
      { ...declaration, summary, cookie: { writes: 'waits' }, response: { status: 202, data: v.null() } },
      async ({ body, signal }, ctx) => {
        const input = { ...body, locales: localesOf(ctx, body), origin: originOf(ctx) };
        const pendingLogin = await run(input, signal);
        if (pendingLogin !== null) access.pendingLogin.set(ctx, pendingLogin);
        return null;
      },
    );
  }
  const run = register(deps);
  return route(
    {
      ...declaration,
      summary: 'Register a user and open a session',
      cookie: { writes: 'opens' },
      response: { status: 201, data: LoginResult },
    },
    async ({ body: { proof, ...registration }, signal }, ctx) => {
      const presented = access.device(ctx, proof);
      const input = { ...registration, locales: localesOf(ctx, registration), presented, origin: originOf(ctx) };
      return handOver(ctx, access, await run(input, signal));
    },
  );
};
