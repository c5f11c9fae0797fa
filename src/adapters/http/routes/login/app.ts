import * as v from 'valibot';
import { logInWithAppCode, makeAppCode } from '../../../../application/login/app-code.ts';
import type { Service } from '../../../../application/service.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { Proof } from '../../../json/fields.ts';
import { locations, withParameter } from '../../forms/locations.ts';
import { challengeIn, type TargetSettings } from '../../forms/targets.ts';
import { originOf, type PresentedDevice } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { type DeviceAccess, PROOF_ERRORS } from '../sessions/refresh.ts';
import { handOver, LoginResult, loginErrors, loginSourceOf, OPENS_SESSION } from './login.ts';

const UseBody = v.pipe(
  v.object({
    code: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000)),
    /** RFC 7636 §4.1. */
    verifier: v.pipe(v.string(), v.regex(/^[\w.~-]{43,128}$/, 'must have 43 to 128 letters, digits and -._~')),
    proof: v.optional(Proof),
  }),
  v.examples([{ code: 'q83vEjRWeJA…', verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' }]),
);

/** Log-in of an app on the device, which has led the user to the pages of the service in the system's browser. ADR 0033. */
export const appLoginRoute = (deps: Service, access: DeviceAccess): Route => {
  const logIn = logInWithAppCode(deps);
  return route(
    {
      ...OPENS_SESSION,
      name: 'app-login',
      summary: 'Log in an app with the code that its link had, and open a session',
      path: '/auth/login/app',
      throttle: 'strict',
      request: { body: UseBody },
      response: { data: LoginResult },
      errors: loginErrors(deps, 'AUTH_CODE_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
    },
    async ({ body: { proof, ...shown }, signal }, ctx) => {
      const { refreshTokens } = loginSourceOf(ctx, access);
      const input = { ...shown, refreshTokens, presented: access.device(ctx, proof), origin: originOf(ctx) };
      return handOver(ctx, access, await logIn(input, signal));
    },
  );
};

/**
 * For the form of the service's own page alone: a script with an access token could make itself a session that outlives the token. With a step-up:
 * so could a thief with a copied cookie, and no refresh of the owner would end that session.
 */
export const appCodeRoute = (deps: Service, settings: TargetSettings, device: PresentedDevice): Route => {
  const make = makeAppCode(deps);
  return route(
    {
      name: 'make-app-code',
      tag: 'pages',
      summary: 'Make a code for the app',
      method: 'POST',
      path: '/auth/app',
      stepUp: FACTOR_CHANGE,
      throttle: 'strict',
      request: { body: v.object({ to: locations(settings).appLink, proof: v.optional(Proof) }) },
      response: { data: v.object({ url: v.string() }) },
      errors: PROOF_ERRORS,
    },
    async ({ caller, body: { to, proof } }, ctx) => ({
      url: withParameter(to, 'code', await make(caller, challengeIn(to, settings) ?? '', device(ctx, proof))),
    }),
  );
};
