import * as v from 'valibot';
import { stepUp } from '../../../../application/factors/step-up.ts';
import type { PresentedFactor } from '../../../../application/factors/verify-factor.ts';
import type { UsedCredential as Credential } from '../../../../application/ports/webauthn.ts';
import type { Service } from '../../../../application/service.ts';
import { Code, CurrentPassword, Proof } from '../../../json/fields.ts';
import { RequestValidationFailure } from '../../errors/exceptions.ts';
import { originOf, type PresentedDevice } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { PROOF_ERRORS, RefreshResult } from '../sessions/refresh.ts';
import { UsedCredential } from './passkey-credentials.ts';

/** @throws RequestValidationFailure when a body has none or several of some optional members. */
const assertOneMember = (members: Readonly<Record<string, unknown>>): void => {
  const names = Object.keys(members);
  const given = names.filter((name) => members[name] !== undefined);
  if (given.length === 1) return;
  const code = given.length === 0 ? 'required' : 'unknown';
  throw new RequestValidationFailure([{ field: 'body', message: `must have one of ${names.join(', ')}`, code }]);
};

/** The members of a body that show a factor. */
type Members = {
  readonly code: string | undefined;
  readonly recoveryCode?: string | undefined;
  readonly credential: Credential | undefined;
};

/** @throws RequestValidationFailure when the body has none or several of the members. */
export const presentedFactor = (members: Members): PresentedFactor => {
  assertOneMember(members);
  const { code = '', recoveryCode, credential } = members;
  if (credential !== undefined) return { credential };
  return recoveryCode === undefined ? { code } : { recoveryCode };
};

/** `presentedFactor` and the handler accept exactly one of the members, besides the proof. */
const StepUpBody = v.pipe(
  v.object({
    password: v.optional(CurrentPassword),
    code: v.optional(Code),
    credential: v.optional(UsedCredential),
    proof: v.optional(Proof),
  }),
  v.examples([{ password: 'correct horse' }]),
);

/** The user of a session shows something again. RFC 9470, ADR 0009. */
export const stepUpRoutes = (deps: Service, cookies: SessionCookies, presentedDevice: PresentedDevice): Route[] => {
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
          'SYS_HOOK_UNAVAILABLE',
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
