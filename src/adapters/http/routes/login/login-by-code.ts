import * as v from 'valibot';
import { logInWithCode, requestLoginCode } from '../../../../application/accounts/login-by-code.ts';
import type { Service } from '../../../../application/service.ts';
import { MailCode, Proof } from '../../../json/fields.ts';
import { withRefusalTime } from '../../../limits/time-limits.ts';
import { type DeviceAccess, eventOriginOf, loginSourceOf } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { LOGIN_ROUTE, LoginBody, loginErrors, sendSession } from './login.ts';

const RequestCodeBody = v.object({ account: LoginBody.entries.account });

/** Milliseconds that the refusal of a mailed code takes at least: else it would take longer if the account exists. */
export const CODE_REFUSAL_TIME = 50;

const ConfirmCodeBody = v.object({ code: MailCode, proof: v.optional(Proof) });

/** Log-in with a code from a mail. The code works only in the browser that has requested it (ADR 0008). */
export const loginByCodeRoutes = (deps: Service, deviceAccess: DeviceAccess): Route[] => [
  route({
    name: 'request-login-code',
    tag: 'tokens',
    summary: 'Send a code to log in with to the address of an account, if there is one',
    description:
      'The same answer for every account. It sets the cookie `login_pending`: the code works once, within ten minutes and five guesses, in the browser that has asked for it.',
    at: 'POST /auth/login/code',
    cookie: { writes: 'waits' },
    auth: 'public',
    throttle: 'strict',
    request: { body: RequestCodeBody },
    response: { status: 202 },
    errors: ['DB_QUERY_FAILED'],
    handler: async ({ body: { account } }, ctx) => {
      const asked = deviceAccess.pendingLogin.readOwn(ctx);
      deviceAccess.pendingLogin.set(ctx, await requestLoginCode(deps)({ account, asked, origin: eventOriginOf(ctx) }));
    },
  }),
  route({
    ...LOGIN_ROUTE,
    name: 'confirm-login-code',
    summary: 'Log in with the code of a mail and open a session',
    description:
      'The code stands for the password, and proves the address. If nobody has proven it before, what was added to the account until then goes.',
    at: 'POST /auth/login/code/confirm',
    request: { body: ConfirmCodeBody },
    // Without AUTH_EMAIL_UNVERIFIED, since the code verifies the address.
    errors: loginErrors({ emailVerification: 'off' }, 'AUTH_CODE_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
    handler: async ({ body: { code, proof }, signal }, ctx) => {
      const source = loginSourceOf(ctx, deviceAccess, proof);
      const loggingIn = logInWithCode(deps)({ code, ...source, asked: source.pendingLogins }, signal);
      const result = await sendSession(ctx, deviceAccess, await withRefusalTime(CODE_REFUSAL_TIME, loggingIn));
      deviceAccess.pendingLogin.clear(ctx);
      return result;
    },
  }),
];
