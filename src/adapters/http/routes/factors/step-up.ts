import type { FactorsDeps } from '../../../../application/deps.ts';
import { stepUp } from '../../../../application/factors/step-up.ts';
import { originOf, type PresentedDevice } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { assertOneMember, presentedFactor } from '../../request/presented-factor.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { StepUpBody } from '../../routing/schemas.ts';
import { PROOF_ERRORS, RefreshResult } from '../login/auth.ts';

/** The user of a session shows something again. RFC 9470, ADR 0009. */
export const stepUpRoutes = (deps: FactorsDeps, cookies: SessionCookies, presentedDevice: PresentedDevice): Route[] => {
  const useCases = { stepUp: stepUp(deps) };
  return [
    route(
      {
        name: 'step-up',
        tag: 'sessions',
        summary: 'Show the password or a factor again, for a route that requires it',
        method: 'POST',
        path: '/auth/step-up',
        throttle: 'strict',
        cookie: { writes: 'access' },
        request: { body: StepUpBody },
        response: { data: RefreshResult },
        errors: [
          'AUTH_CREDENTIALS_INVALID',
          'AUTH_SECOND_FACTOR_INVALID',
          'AUTH_PASSKEY_INVALID',
          ...PROOF_ERRORS,
          'DB_UNIQUE_VIOLATION',
        ],
      },
      async ({ claims, caller, body: { password, code, credential, proof } }, ctx) => {
        assertOneMember({ password, code, credential });
        const factor = password === undefined ? presentedFactor({ code, credential }) : { password };
        const evidence = { factor, presented: presentedDevice(ctx, proof), origin: originOf(ctx) };
        const accessToken = await useCases.stepUp({ ...caller, tokenIssuedAt: claims.iat, ...evidence });
        cookies.setAccess(ctx, accessToken);
        return { accessToken };
      },
    ),
  ];
};
