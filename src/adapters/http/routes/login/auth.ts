import type { Context } from 'koa';
import * as v from 'valibot';
import { register, registerPending } from '../../../../application/accounts/register.ts';
import { registerUnverified } from '../../../../application/accounts/register-unverified.ts';
import type { AccountsDeps, SessionsDeps } from '../../../../application/deps.ts';
import { type LoginDeps, login } from '../../../../application/login/login.ts';
import { logout } from '../../../../application/sessions/end-sessions.ts';
import type { OpenedSession } from '../../../../application/sessions/open-session.ts';
import { refresh } from '../../../../application/sessions/refresh.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { PublicUserJson } from '../../../json/public-user.ts';
import type { BrowserSession } from '../../request/browser-session.ts';
import { clientNetworks, originOf, type PresentedDevice } from '../../request/client.ts';
import { type HttpOnlyCookie, isCrossSite, type SessionCookies } from '../../request/cookies.ts';
import { clientOf } from '../../request/hang-up.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { AccessToken, LoginBody, RefreshBody, RegisterBody } from '../../routing/schemas.ts';

/** How the routes see the device of a request, and what they send it. */
export type DeviceAccess = {
  readonly cookie: SessionCookies;
  readonly pendingLogin: HttpOnlyCookie;
  readonly rememberedDevice: HttpOnlyCookie;
  readonly device: PresentedDevice;
  /** `null`: browsers hold no keys. */
  readonly browser: BrowserSession | null;
};

export const LoginResult = v.object({ accessToken: AccessToken, user: PublicUserJson });
export const RefreshResult = v.object({ accessToken: AccessToken });

/** Of a request whose proof of its device is missing, not valid, or of another time. */
export const PROOF_ERRORS = ['AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED'] as const;

/** The networks and refresh tokens of a log-in. A refresh token of the account identifies a known device. ADR 0008. */
export const loginSourceOf = (ctx: Context, { cookie }: DeviceAccess) => ({
  networks: clientNetworks(ctx),
  refreshTokens: isCrossSite(ctx) ? [] : cookie.read(ctx),
});

/** Sends the cookies of the session that a request has opened, and asks the browser for a key. @returns the result. */
export const handOver = (ctx: Context, { cookie, browser }: DeviceAccess, opened: OpenedSession) => {
  const { refreshToken, ...result } = opened;
  cookie.set(ctx, opened);
  browser?.invite(ctx, result);
  return result;
};

/** The languages of a registration: that of its body, or those of the browser. */
const localesOf = (ctx: Context, { locale }: { readonly locale?: string | undefined }): readonly string[] =>
  locale === undefined ? acceptedLocales(ctx) : [locale];

const requiresVerifiedEmail = ({ emailVerification }: LoginDeps | AccountsDeps): boolean =>
  emailVerification === 'required';

/**
 * If log-ins need a verified address, the response does not depend on whether the address has an account (ADR 0010). If they need a second
 * factor, the user adds it in a pending log-in (ADR 0009).
 */
const registerRoute = (deps: AccountsDeps, access: DeviceAccess): Route => {
  const declaration = {
    name: 'register',
    tag: 'tokens',
    method: 'POST',
    path: '/auth/register',
    auth: 'public',
    throttle: 'strict',
    request: { body: RegisterBody },
    errors: ['AUTH_USER_DUPLICATE', 'DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED', ...PROOF_ERRORS],
  } as const;
  if (requiresVerifiedEmail(deps)) {
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
        access.pendingLogin.set(ctx, await run(input, signal));
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

/** SPEC "Endpoints". The refresh token is sent in the cookie alone. */
export const authRoutes = (deps: AccountsDeps & LoginDeps & SessionsDeps, access: DeviceAccess): Route[] => {
  const { cookie, pendingLogin, rememberedDevice, device, browser } = access;
  const useCases = { login: login(deps), refresh: refresh(deps), logout: logout(deps) };
  return [
    registerRoute(deps, access),
    route(
      {
        name: 'login',
        tag: 'tokens',
        summary: 'Log in and open a session',
        method: 'POST',
        path: '/auth/login',
        cookie: { reads: 'optional', writes: 'opens' },
        auth: 'public',
        throttle: 'strict',
        request: { body: LoginBody },
        response: { data: LoginResult },
        errors: [
          'AUTH_CREDENTIALS_INVALID',
          'AUTH_ACCOUNT_DISABLED',
          'AUTH_SECOND_FACTOR_REQUIRED',
          ...PROOF_ERRORS,
          ...(requiresVerifiedEmail(deps) ? (['AUTH_EMAIL_UNVERIFIED'] as const) : []),
          'DB_UNIQUE_VIOLATION',
          'DB_QUERY_FAILED',
        ],
      },
      async ({ body: { proof, ...credentials }, signal }, ctx) => {
        const source = loginSourceOf(ctx, access);
        const rememberedDevices = isCrossSite(ctx) ? [] : rememberedDevice.read(ctx);
        const shown = { ...credentials, source, rememberedDevices };
        const input = { ...shown, presented: device(ctx, proof), origin: originOf(ctx) };
        const outcome = await useCases.login(input, signal);
        if ('pendingLogin' in outcome) {
          pendingLogin.set(ctx, outcome.pendingLogin);
          throw new AppError('AUTH_SECOND_FACTOR_REQUIRED');
        }
        return handOver(ctx, access, outcome);
      },
    ),
    route(
      {
        name: 'refresh',
        tag: 'tokens',
        summary: 'Renew both tokens',
        method: 'POST',
        path: '/auth/refresh-token',
        cookie: { reads: 'required', writes: 'sets' },
        auth: 'public',
        request: { body: RefreshBody },
        response: { data: RefreshResult },
        errors: ['AUTH_FAILED', ...PROOF_ERRORS, 'DB_QUERY_FAILED'],
      },
      async ({ body, signal }, ctx) => {
        const tokens = isCrossSite(ctx) ? [] : cookie.read(ctx);
        const client = await clientOf(ctx);
        const asked = { cancellation: signal, client, origin: originOf(ctx), presented: device(ctx, body?.proof) };
        const { refreshToken, accessToken, provenByBrowser } = await useCases.refresh(tokens, asked);
        if (provenByBrowser) ctx.state.binding = 'browser';
        cookie.set(ctx, { refreshToken, accessToken });
        return { accessToken };
      },
    ),
    route(
      {
        name: 'clear-cookie',
        tag: 'tokens',
        summary: 'Log out: end the session and clear the cookie',
        method: 'GET',
        path: '/auth/clear-cookie',
        cookie: { reads: 'optional', writes: 'clears' },
        auth: 'public',
        response: { data: v.null() },
        errors: ['DB_QUERY_FAILED'],
      },
      async (_input, ctx) => {
        if (isCrossSite(ctx)) return null;
        await useCases.logout(cookie.read(ctx), originOf(ctx));
        cookie.clear(ctx);
        browser?.cookie.clear(ctx);
        return null;
      },
    ),
    route(
      {
        name: 'session',
        tag: 'tokens',
        summary: 'Return what the access token says, whether or not its session is live',
        method: 'GET',
        path: '/auth/session',
        auth: 'optional',
        response: { data: v.object({ authenticated: v.boolean(), user: v.nullable(PublicUserJson) }) },
      },
      ({ claims }) => ({ authenticated: claims !== undefined, user: claims?.user ?? null }),
    ),
  ];
};
