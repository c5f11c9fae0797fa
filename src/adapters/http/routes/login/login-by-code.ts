import * as v from 'valibot';
import { logInWithCode, requestLoginCode } from '../../../../application/accounts/login-by-code.ts';
import type { Service } from '../../../../application/service.ts';
import { MailCode, Proof } from '../../../json/fields.ts';
import { originOf } from '../../request/client.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import type { DeviceAccess } from '../sessions/refresh.ts';
import { handOver, LoginBody, LoginResult, loginErrors, loginSourceOf, OPENS_SESSION, ownCookies } from './login.ts';

const RequestCodeBody = v.pipe(
  v.object({ account: LoginBody.pipe[0].entries.account }),
  v.examples([{ account: 'ada@example.org' }]),
);

const ConfirmCodeBody = v.pipe(
  v.object({ code: MailCode, proof: v.optional(Proof) }),
  v.examples([{ code: '48151623' }]),
);

/** Log-in by a code from a mail, in place of the password (ADR 0008). The code is good in the browser alone that has asked for it. */
export const loginByCodeRoutes = (deps: Service, access: DeviceAccess): Route[] => {
  const { pendingCode, pendingLogin, device } = access;
  const useCases = { request: requestLoginCode(deps), logIn: logInWithCode(deps) };
  return [
    route(
      {
        name: 'request-login-code',
        tag: 'tokens',
        summary: 'Send a code to log in with to the address of an account, if there is one',
        method: 'POST',
        path: '/auth/login/code',
        cookie: { writes: 'waits' },
        auth: 'public',
        throttle: 'strict',
        request: { body: RequestCodeBody },
        response: { status: 202, data: v.null() },
        errors: ['DB_QUERY_FAILED'],
      },
      async ({ body: { account } }, ctx) => {
        const { pendingLogins: asked } = ownCookies(ctx, access);
        pendingCode.set(ctx, await useCases.request({ account, asked, origin: originOf(ctx) }));
        return null;
      },
    ),
    route(
      {
        ...OPENS_SESSION,
        name: 'confirm-login-code',
        summary: 'Log in with the code of a mail and open a session',
        path: '/auth/login/code/confirm',
        throttle: 'strict',
        request: { body: ConfirmCodeBody },
        response: { data: LoginResult },
        // The code proves the address.
        errors: loginErrors({ emailVerification: 'off' }, 'AUTH_CODE_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
      },
      async ({ body: { code, proof }, signal }, ctx) => {
        const { pendingLogins: asked, rememberedDevices } = ownCookies(ctx, access);
        const { refreshTokens } = loginSourceOf(ctx, access);
        const shown = { code, asked, rememberedDevices, refreshTokens, locales: acceptedLocales(ctx) };
        const input = { ...shown, presented: device(ctx, proof), origin: originOf(ctx) };
        const result = await handOver(ctx, access, await useCases.logIn(input, signal));
        pendingLogin.clear(ctx);
        return result;
      },
    ),
  ];
};
