import * as v from 'valibot';
import type { StartedApp } from '../../../../application/factors/enrol-app.ts';
import * as factors from '../../../../application/factors/manage-factors.ts';
import { listPasskeys } from '../../../../application/factors/passkeys.ts';
import { listIdentities, unlinkIdentity } from '../../../../application/identities/at-provider.ts';
import type { Service } from '../../../../application/service.ts';
import { totpUri } from '../../../../domain/second-factor.ts';
import { IdentityJson } from '../../../json/account.ts';
import { FactorsJson, StartedAppJson } from '../../../json/factors.ts';
import { Id, IdParams, Totp } from '../../../json/fields.ts';
import type { UserSite } from '../../pages/layout.ts';
import { eventOriginOf } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { FACTOR_ROUTE, passkeyJson } from './passkeys.ts';

export const ConfirmAppBody = v.object({ id: Id, code: Totp });

/** The secret of a new authenticator app, with its QR code. @param serviceName the name of the service in the app */
export const appJson = async ({ id, secret, username }: StartedApp, serviceName: string) => {
  const uri = totpUri(secret, { service: serviceName, account: username });
  const { renderSVG } = await import('uqr');
  return { id, secret, uri, qr: renderSVG(uri) };
};

export const RecoveryCodesJson = v.object({
  recoveryCodes: v.pipe(v.array(v.string()), v.examples([['ABCD-EFGH-JKMN-PQRS-TVWX-YZ01']])),
});

/** Users list, add and remove second factors (ADR 0009). */
export const factorRoutes = (deps: Service, site: UserSite): Route[] => [
  route({
    ...FACTOR_ROUTE,
    name: 'factors',
    summary: 'Return what the user can log in with besides the password',
    description:
      'What shows or changes factors needs that the user has authenticated within five minutes, with the second factor if there is one: `POST /auth/step-up`.',
    at: 'GET /users/me/factors',
    response: { data: FactorsJson },
    handler: async ({ caller }) => {
      const { apps, recoveryCodes } = await factors.listFactors(deps)(caller);
      return { passkeys: (await listPasskeys(deps)(caller)).map(passkeyJson), totp: [...apps], recoveryCodes };
    },
  }),
  ...enrolmentRoutes(deps, site),
  route({
    ...FACTOR_ROUTE,
    name: 'make-recovery-codes',
    summary: 'Make new recovery codes in place of the former ones',
    description: 'They are shown this once.',
    at: 'POST /users/me/factors/recovery-codes',
    throttle: 'strict',
    response: { data: RecoveryCodesJson },
    handler: async ({ caller }, ctx) => ({
      recoveryCodes: await factors.makeRecoveryCodes(deps)(caller, eventOriginOf(ctx)),
    }),
  }),
  route({
    ...FACTOR_ROUTE,
    name: 'remove-factor',
    summary: 'Remove an authenticator app',
    description: 'With the last one go the recovery codes, and log-ins need no second factor.',
    at: 'DELETE /users/me/factors/:id',
    request: { params: IdParams },
    handler: ({ caller, params }, ctx) => factors.removeApp(deps)(caller, params.id, eventOriginOf(ctx)),
  }),
];

/** Users add an authenticator app. In production, these routes need FACTOR_KEYS, which encrypt the secrets of apps. */
const enrolmentRoutes = (deps: Service, { brand }: UserSite): Route[] => {
  const factorSecrets = deps.secrets.factors;
  if (factorSecrets === null) return [];
  return [
    route({
      ...FACTOR_ROUTE,
      name: 'start-totp',
      summary: 'Make a secret for an authenticator app',
      description:
        'Shown this once: `secret` in Base32, `uri` (`otpauth:`), and `qr`, the same as SVG. Log-ins stay as they are until the app is confirmed. At most five apps. Not in production without FACTOR_KEYS.',
      at: 'POST /users/me/factors/totp',
      throttle: 'strict',
      response: { status: 201, data: StartedAppJson },
      errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_UNIQUE_VIOLATION'],
      handler: async ({ caller }) => appJson(await factors.startApp(deps, factorSecrets)(caller), brand.name),
    }),
    route({
      ...FACTOR_ROUTE,
      name: 'confirm-totp',
      summary: 'Confirm an authenticator app with its first code, and return recovery codes if the user had none',
      description: 'From now on log-ins need a second factor. The ten recovery codes are shown this once.',
      at: 'POST /users/me/factors/totp/confirm',
      throttle: 'strict',
      request: { body: ConfirmAppBody },
      response: { data: RecoveryCodesJson },
      errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_UNIQUE_VIOLATION'],
      handler: async ({ claims, caller, body }, ctx) => {
        const confirmation = { ...caller, tokenIssuedAt: claims.iat, ...body, origin: eventOriginOf(ctx) };
        return { recoveryCodes: await factors.confirmApp(deps)(confirmation) };
      },
    }),
  ];
};

/** Users list and remove their identities at providers, also at providers that the service no longer has (ADR 0026). */
export const identityRoutes = (deps: Service): Route[] => [
  route({
    name: 'identities',
    tag: 'factors',
    summary: 'List the identities at providers that the user can log in with, the oldest first',
    at: 'GET /users/me/identities',
    response: { data: v.array(IdentityJson) },
    handler: ({ caller }) => listIdentities(deps)(caller),
  }),
  route({
    ...FACTOR_ROUTE,
    name: 'unlink-identity',
    summary: 'Remove an identity at a provider, unless it is the only way into the account',
    description: 'The address does not link it again: the user does, in a session.',
    at: 'DELETE /users/me/identities/:id',
    request: { params: IdParams },
    errors: ['AUTH_IDENTITY_CONFLICT'],
    handler: ({ caller, params }, ctx) => unlinkIdentity(deps)(caller, params.id, eventOriginOf(ctx)),
  }),
];
