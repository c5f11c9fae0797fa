import * as v from 'valibot';
import { type FinishLoginDeps, finishLogin, showPendingLogin } from '../../../application/use-cases/finish-login.ts';
import { RequestOptionsJson, requestOptions } from '../../json/passkeys.ts';
import { Timestamp } from '../../json/public-user.ts';
import { originOf } from '../request/client.ts';
import { presentedFactor } from '../request/presented-factor.ts';
import { isCrossSite } from '../request/refresh-cookie.ts';
import { type Route, route } from '../routing/define-route.ts';
import { SecondFactorBody } from '../routing/schemas.ts';
import { type DeviceAccess, LoginResult, loginSourceOf, PROOF_ERRORS } from './auth.ts';

const PendingLoginJson = v.object({
  methods: v.array(v.picklist(['totp', 'recovery-code', 'passkey'])),
  expiresAt: Timestamp,
  passkey: v.nullable(RequestOptionsJson),
});

/** The second half of a log-in whose user has a second factor. ADR 0058. */
export const secondFactorRoutes = (
  deps: FinishLoginDeps,
  { cookie, pendingLogin, device, browser }: DeviceAccess,
): Route[] => {
  const useCases = { showPendingLogin: showPendingLogin(deps), finishLogin: finishLogin(deps) };
  return [
    route(
      {
        name: 'pending-login',
        tag: 'tokens',
        summary: 'Return what the pending log-in of the browser waits for',
        method: 'GET',
        path: '/auth/login/pending',
        auth: 'public',
        response: { data: PendingLoginJson },
        errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_QUERY_FAILED'],
      },
      async (_input, ctx) => {
        const { challenge, ...pending } = await useCases.showPendingLogin(pendingLogin.read(ctx));
        const passkey = challenge === null ? null : requestOptions(deps.webauthn, challenge);
        return { ...pending, passkey };
      },
    ),
    route(
      {
        name: 'second-factor',
        tag: 'tokens',
        summary: 'Show the second factor of the pending log-in and open a session',
        method: 'POST',
        path: '/auth/login/second-factor',
        cookie: { reads: 'optional', writes: 'opens' },
        auth: 'public',
        throttle: 'strict',
        request: { body: SecondFactorBody },
        response: { data: LoginResult },
        errors: [
          ...([
            'AUTH_SECOND_FACTOR_INVALID',
            'AUTH_PASSKEY_INVALID',
            'AUTH_ACCOUNT_DISABLED',
            ...PROOF_ERRORS,
          ] as const),
          ...(deps.emailVerification === 'required' ? (['AUTH_EMAIL_UNVERIFIED'] as const) : []),
          ...(['DB_RECORD_NOT_FOUND', 'DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'] as const),
        ],
      },
      async ({ body: { code, recoveryCode, credential, proof }, signal }, ctx) => {
        const { refreshTokens } = loginSourceOf(ctx, cookie);
        const pendingLogins = isCrossSite(ctx) ? [] : pendingLogin.read(ctx);
        const shown = { pendingLogins, factor: presentedFactor({ code, recoveryCode, credential }) };
        const input = { ...shown, refreshTokens, presented: device(ctx, proof), origin: originOf(ctx) };
        const { refreshToken, ...result } = await useCases.finishLogin(input, signal);
        cookie.set(ctx, refreshToken);
        pendingLogin.clear(ctx);
        browser?.invite(ctx, result);
        return result;
      },
    ),
  ];
};
