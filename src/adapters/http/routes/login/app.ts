import * as v from 'valibot';
import { logInWithAppCode, makeAppCode } from '../../../../application/login/app-code.ts';
import type { Service } from '../../../../application/service.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { Proof } from '../../../json/fields.ts';
import { withParameter } from '../../forms/locations.ts';
import { AppLink, challengeIn, type TargetSettings } from '../../forms/targets.ts';
import { type DeviceAccess, loginSourceOf, PROOF_ERRORS, type ReadPresentedDevice } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { LOGIN_ROUTE, loginErrors, sendSession } from './login.ts';

const AppCodeBody = v.object({
  code: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000), v.examples(['q83vEjRWeJA…'])),
  /** RFC 7636 §4.1. */
  verifier: v.pipe(v.string(), v.regex(/^[\w.~-]{43,128}$/, 'must have 43 to 128 letters, digits and -._~')),
  proof: v.optional(Proof),
});

/** Logs an app in, after its user has logged in in the system's browser (ADR 0033). */
export const appLoginRoute = (deps: Service, deviceAccess: DeviceAccess): Route =>
  route({
    ...LOGIN_ROUTE,
    name: 'app-login',
    summary: 'Log in an app with the code that its link had, and open a session',
    description:
      'Only with APP_LINKS. The code works once, within a minute: a second use ends the session that the first has opened.',
    at: 'POST /auth/login/app',
    request: { body: AppCodeBody },
    errors: loginErrors(deps, 'AUTH_CODE_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
    handler: async ({ body, signal }, ctx) => {
      const input = { ...body, ...loginSourceOf(ctx, deviceAccess, body.proof) };
      return sendSession(ctx, deviceAccess, await logInWithAppCode(deps)(input, signal));
    },
  });

/**
 * Makes the code for an app or the back office. It is no route of the API: a script that has stolen an access token could open a session by it. It needs
 * a step-up: a thief with a copied refresh cookie could open a session as well, and refreshes of the owner would not end that session.
 */
export const appCodeRoute = (deps: Service, settings: TargetSettings, device: ReadPresentedDevice): Route =>
  route({
    name: 'make-app-code',
    tag: 'pages',
    summary: 'Make a code for the app',
    at: 'POST /auth/app',
    stepUp: FACTOR_CHANGE,
    throttle: 'strict',
    request: { body: v.object({ to: AppLink(settings), proof: v.optional(Proof) }) },
    response: { data: v.object({ url: v.string() }) },
    errors: PROOF_ERRORS,
    handler: async ({ caller, body: { to, proof } }, ctx) => {
      const purpose = to.startsWith(`${settings.officeLink}?`) ? 'office-code' : 'app-code';
      const code = await makeAppCode(deps)(caller, challengeIn(to, settings) ?? '', device(ctx, proof), purpose);
      return { url: withParameter(to, 'code', code) };
    },
  });
