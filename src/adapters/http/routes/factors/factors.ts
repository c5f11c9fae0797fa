import * as v from 'valibot';
import type { StartedApp } from '../../../../application/factors/enrol-app.ts';
import {
  confirmApp,
  listFactors,
  makeRecoveryCodes,
  removeApp,
  startApp,
} from '../../../../application/factors/manage-factors.ts';
import { listPasskeys } from '../../../../application/factors/manage-passkeys.ts';
import type { Service } from '../../../../application/service.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { totpUri } from '../../../../domain/second-factor.ts';
import { FactorsJson, StartedAppJson } from '../../../json/factors.ts';
import { Code, Id, IdParams } from '../../../json/fields.ts';
import type { Brand } from '../../pages/layout.ts';
import { originOf } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { shownPasskey } from './passkeys.ts';

export const ConfirmAppBody = v.pipe(
  v.object({ id: Id, code: Code }),
  v.examples([{ id: '01M805M0DQRNB7PKSRES70K5MB', code: '287082' }]),
);

/** @param service the name of the service in the app. */
export const appJson = async ({ id, secret, username }: StartedApp, service: string) => {
  const uri = totpUri(secret, { service, account: username });
  const { renderSVG } = await import('uqr');
  return { id, secret, uri, qr: renderSVG(uri) };
};

export const RecoveryCodesJson = v.object({
  recoveryCodes: v.pipe(v.array(v.string()), v.examples([['ABCD-EFGH-JKMN-PQRS']])),
});

/** The second factors of a user. ADR 0009. @param brand its name is that of the service in authenticator apps. */
export const factorRoutes = (deps: Service, { brand }: { readonly brand: Brand }): Route[] => {
  const useCases = { listFactors: listFactors(deps), listPasskeys: listPasskeys(deps) };
  return [
    route(
      {
        name: 'factors',
        tag: 'factors',
        summary: 'Return what the user can log in with besides the password',
        method: 'GET',
        path: '/users/me/factors',
        stepUp: FACTOR_CHANGE,
        response: { data: FactorsJson },
      },
      async ({ caller }) => {
        const { apps, recoveryCodes } = await useCases.listFactors(caller);
        const totp = apps.map(({ id, createdAt }) => ({ id, createdAt }));
        return { passkeys: (await useCases.listPasskeys(caller)).map(shownPasskey), totp, recoveryCodes };
      },
    ),
    ...enrolmentRoutes(deps, brand.name),
    ...ownFactorRoutes(deps),
  ];
};

/** Without the keys of secrets, there are none. */
const enrolmentRoutes = (deps: Service, service: string): Route[] => {
  const factorSecrets = deps.secrets.factors;
  if (factorSecrets === null) return [];
  const useCases = { startApp: startApp(deps, factorSecrets), confirmApp: confirmApp(deps) };
  return [
    route(
      {
        name: 'start-totp',
        tag: 'factors',
        summary: 'Make a secret for an authenticator app',
        method: 'POST',
        path: '/users/me/factors/totp',
        throttle: 'strict',
        stepUp: FACTOR_CHANGE,
        response: { status: 201, data: StartedAppJson },
        errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_UNIQUE_VIOLATION'],
      },
      async ({ caller }) => appJson(await useCases.startApp(caller), service),
    ),
    route(
      {
        name: 'confirm-totp',
        tag: 'factors',
        summary: 'Confirm an authenticator app with its first code, and return recovery codes if the user had none',
        method: 'POST',
        path: '/users/me/factors/totp/confirm',
        throttle: 'strict',
        stepUp: FACTOR_CHANGE,
        request: { body: ConfirmAppBody },
        response: { data: RecoveryCodesJson },
        errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_UNIQUE_VIOLATION'],
      },
      async ({ claims, caller, body }, ctx) => {
        const confirmation = { ...caller, tokenIssuedAt: claims.iat, ...body, origin: originOf(ctx) };
        return { recoveryCodes: await useCases.confirmApp(confirmation) };
      },
    ),
  ];
};

const ownFactorRoutes = (deps: Service): Route[] => {
  const useCases = { makeRecoveryCodes: makeRecoveryCodes(deps), removeApp: removeApp(deps) };
  return [
    route(
      {
        name: 'make-recovery-codes',
        tag: 'factors',
        summary: 'Make new recovery codes in place of the former ones',
        method: 'POST',
        path: '/users/me/factors/recovery-codes',
        throttle: 'strict',
        stepUp: FACTOR_CHANGE,
        response: { data: RecoveryCodesJson },
      },
      async ({ caller }, ctx) => ({
        recoveryCodes: await useCases.makeRecoveryCodes(caller, originOf(ctx)),
      }),
    ),
    route(
      {
        name: 'remove-factor',
        tag: 'factors',
        summary: 'Remove an authenticator app',
        method: 'DELETE',
        path: '/users/me/factors/:id',
        stepUp: FACTOR_CHANGE,
        request: { params: IdParams },
        response: { data: v.null() },
      },
      async ({ caller, params }, ctx) => {
        await useCases.removeApp(caller, params.id, originOf(ctx));
        return null;
      },
    ),
  ];
};
