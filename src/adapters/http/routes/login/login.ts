import type { Context } from 'koa';
import * as v from 'valibot';
import { login } from '../../../../application/login/login.ts';
import type { Service } from '../../../../application/service.ts';
import type { OpenedSession } from '../../../../application/sessions/open-session.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import { ACCOUNT_MAX_LENGTH } from '../../../../domain/user.ts';
import { CurrentPassword, Proof } from '../../../json/fields.ts';
import { PublicUserJson } from '../../../json/public-user.ts';
import { typedAccount } from '../../../json/typed-account.ts';
import { clientNetworks, originOf } from '../../request/client.ts';
import { isCrossSite } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { AccessToken, type DeviceAccess, PROOF_ERRORS } from '../sessions/refresh.ts';

export const LoginResult = v.object({ accessToken: AccessToken, user: PublicUserJson });

/** Without the format rules of usernames and emails: an account name of another form is not found. */
export const LoginBody = v.pipe(
  v.object({
    account: v.pipe(v.string(), v.transform(typedAccount), v.minLength(1), v.maxLength(ACCOUNT_MAX_LENGTH)),
    password: CurrentPassword,
    proof: v.optional(Proof),
  }),
  v.examples([{ account: 'ada@example.org', password: 'correct horse' }]),
);

/** The networks and refresh tokens of a log-in. A refresh token of the account identifies a known device. ADR 0008. */
export const loginSourceOf = (ctx: Context, { cookie }: DeviceAccess) => ({
  networks: clientNetworks(ctx),
  refreshTokens: isCrossSite(ctx) ? [] : cookie.read(ctx),
});

/** What the browser got earlier in this log-in, and in one before. */
export const ownCookies = (ctx: Context, { pendingLogin, rememberedDevice }: DeviceAccess) => {
  if (isCrossSite(ctx)) return { pendingLogins: [], rememberedDevices: [] };
  return { pendingLogins: pendingLogin.read(ctx), rememberedDevices: rememberedDevice.read(ctx) };
};

/**
 * Sends the cookies of the session that a request has opened, links what the browser has kept of a sign-in, and asks the browser for a key.
 * @returns the result.
 * @throws AppError AUTH_SECOND_FACTOR_REQUIRED, with the cookie of the pending log-in
 */
export const handOver = async (
  ctx: Context,
  { cookie, pendingLogin, browser, linkKept }: DeviceAccess,
  outcome: OpenedSession | { readonly pendingLogin: string },
) => {
  if ('pendingLogin' in outcome) {
    pendingLogin.set(ctx, outcome.pendingLogin);
    throw new AppError('AUTH_SECOND_FACTOR_REQUIRED');
  }
  const { refreshToken, binding, ...result } = outcome;
  ctx.state.binding = binding;
  cookie.set(ctx, outcome);
  await linkKept?.(ctx, outcome);
  browser?.invite(ctx, result);
  return result;
};

/** What the routes have in common by which a user logs in. */
export const OPENS_SESSION = {
  tag: 'tokens',
  method: 'POST',
  cookie: { reads: 'optional', writes: 'opens' },
  auth: 'public',
} as const;

/** Their errors. @param errors besides those of all ways to log in. */
export const loginErrors = (
  { emailVerification }: Pick<Service, 'emailVerification'>,
  ...errors: readonly ErrorCode[]
): readonly ErrorCode[] => [
  ...errors,
  'AUTH_ACCOUNT_DISABLED',
  ...PROOF_ERRORS,
  ...(emailVerification === 'required' ? (['AUTH_EMAIL_UNVERIFIED'] as const) : []),
  'DB_UNIQUE_VIOLATION',
  'DB_QUERY_FAILED',
];

export const loginRoutes = (deps: Service, access: DeviceAccess): Route[] => {
  const logIn = login(deps);
  return [
    route(
      {
        ...OPENS_SESSION,
        name: 'login',
        summary: 'Log in and open a session',
        path: '/auth/login',
        throttle: 'strict',
        request: { body: LoginBody },
        response: { data: LoginResult },
        errors: loginErrors(deps, 'AUTH_CREDENTIALS_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
      },
      async ({ body: { proof, ...credentials }, signal }, ctx) => {
        const { rememberedDevices } = ownCookies(ctx, access);
        const shown = { ...credentials, source: loginSourceOf(ctx, access), rememberedDevices };
        const input = { ...shown, presented: access.device(ctx, proof), origin: originOf(ctx) };
        return handOver(ctx, access, await logIn(input, signal));
      },
    ),
  ];
};
