import type { Context } from 'koa';
import * as v from 'valibot';
import { type AdoptDeps, adopt } from '../../../../application/login/adopt.ts';
import { login } from '../../../../application/login/login.ts';
import type { Service } from '../../../../application/service.ts';
import type { OpenedSession } from '../../../../application/sessions/open-session.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import { ACCOUNT_MAX_LENGTH } from '../../../../domain/user.ts';
import { CurrentPassword, LoginResult, Proof, typedAccount } from '../../../json/fields.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import { type DeviceAccess, loginSourceOf, PROOF_ERRORS } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';

/** An `account` that is neither a username nor an email address is valid, but finds no account. */
export const LoginBody = v.object({
  account: v.pipe(v.string(), v.transform(typedAccount), v.minLength(1), v.maxLength(ACCOUNT_MAX_LENGTH)),
  password: CurrentPassword,
  proof: v.optional(Proof),
});

/**
 * Sets the cookies of the session that a request has opened, and links the identity that the browser may keep.
 * @returns the `data` of the response
 * @throws AppError AUTH_SECOND_FACTOR_REQUIRED, with the cookie of the pending log-in
 */
export const sendSession = async (
  ctx: Context,
  { cookie, pendingLogin, rememberedDevice: remembered, browser, linkKeptIdentity }: DeviceAccess,
  outcome: OpenedSession | { readonly pendingLogin: string },
) => {
  if ('pendingLogin' in outcome) {
    pendingLogin.set(ctx, outcome.pendingLogin);
    throw new AppError('AUTH_SECOND_FACTOR_REQUIRED');
  }
  const { refreshToken, binding, rememberedDevice = null, ...result } = outcome;
  // First, since it can outlast the time of the request: an error must not set a cookie.
  await linkKeptIdentity?.(ctx, outcome);
  ctx.state.binding = binding;
  cookie.set(ctx, outcome);
  if (rememberedDevice !== null) remembered.set(ctx, rememberedDevice);
  browser?.invite(ctx, result);
  return result;
};

export const LOGIN_ROUTE = {
  tag: 'tokens',
  cookie: { reads: 'optional', writes: 'opens' },
  auth: 'public',
  throttle: 'strict',
  response: { data: LoginResult },
} as const;

/** The error codes of a route that logs in. @param errors codes besides those of every such route */
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

/** For the first view of the log-in page, which asks for the account. It looks up no account, so its response does not tell whether one exists. */
export const nameAccountRoute = route({
  name: 'name-account',
  tag: 'pages',
  summary: 'Say who logs in',
  at: 'POST /auth/log-in/account',
  auth: 'public',
  request: { body: v.pick(LoginBody, ['account']) },
  handler: () => null,
});

export const loginRoute = (deps: Service, deviceAccess: DeviceAccess): Route => {
  const logIn = login(deps);
  return route({
    ...LOGIN_ROUTE,
    name: 'login',
    summary: 'Log in and open a session',
    description:
      'Send the refresh cookie if there is one: the wrong passwords of others do not delay a known device, and its former session ends. A user has at most 50 sessions: the one used least recently gives way. With NEW_DEVICE_CODE, a new device gets `AUTH_SECOND_FACTOR_REQUIRED` for right and wrong passwords; a code is mailed if it is right.',
    at: 'POST /auth/login',
    request: { body: LoginBody },
    errors: loginErrors(deps, 'AUTH_CREDENTIALS_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
    handler: async ({ body, signal }, ctx) => {
      const source = loginSourceOf(ctx, deviceAccess, body.proof);
      return sendSession(ctx, deviceAccess, await logIn({ ...body, ...source }, signal));
    },
  });
};

const AdoptBody = v.object({
  assertion: v.pipe(v.string(), v.minLength(1), v.maxLength(4_096)),
  proof: v.optional(Proof),
});

/**
 * Opens a session for a user of the former system. It takes no form: a form of another site could log its visitor in as somebody else.
 * @param endsAt ADOPTION_ENDS, in epoch milliseconds; `null`: never
 */
export const adoptRoute = (deps: AdoptDeps, deviceAccess: DeviceAccess, endsAt: number | null): Route =>
  route({
    ...LOGIN_ROUTE,
    name: 'adopt',
    summary: 'Open a session for a user for whom the former system vouches',
    description:
      'With ADOPTION_PUBLIC_KEY, until ADOPTION_ENDS. The assertion is a JWT: `typ` is `adoption+jwt`, `alg` ES256 or EdDSA, `aud` BASE_URL, `sub` the id of the user here, `jti` is used once, `iat` and `exp` are at most a minute apart.',
    at: 'POST /auth/adopt',
    throttle: 'global',
    request: { body: AdoptBody },
    errors: loginErrors(deps, 'AUTH_ASSERTION_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
    httpStatuses: [404],
    handler: async ({ body, signal }, ctx) => {
      if (endsAt !== null && deps.clock.now() >= endsAt) throw httpFailure(404, { reason: 'ADOPTION_ENDS has passed' });
      const input = { ...body, ...loginSourceOf(ctx, deviceAccess, body.proof) };
      return sendSession(ctx, deviceAccess, await adopt(deps)(input, signal));
    },
  });
