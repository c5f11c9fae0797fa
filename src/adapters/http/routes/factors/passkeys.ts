import * as v from 'valibot';
import {
  addPasskey,
  invitePasskey,
  type ListedPasskey,
  removePasskey,
  renamePasskey,
} from '../../../../application/factors/manage-passkeys.ts';
import { logInWithPasskey, passkeyChallenge } from '../../../../application/factors/use-passkey.ts';
import type { Service } from '../../../../application/service.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { CreationOptionsJson, PasskeyJson, RequestOptionsJson } from '../../../json/factors.ts';
import { IdParams, Proof } from '../../../json/fields.ts';
import type { UserSite } from '../../pages/layout.ts';
import { originOf } from '../../request/client.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';
import { handOver, LoginResult, loginErrors, loginSourceOf, OPENS_SESSION } from '../login/login.ts';
import type { DeviceAccess } from '../sessions/refresh.ts';
import { NewPasskeyBody, PasskeyNameBody, USED_CREDENTIAL_EXAMPLE, UsedCredential } from './passkey-credentials.ts';
import { AcceptedPasskeysJson, acceptedPasskeys, creationOptions, requestOptions } from './passkey-options.ts';

const PasskeyLoginBody = v.pipe(
  v.object({ credential: UsedCredential, proof: v.optional(Proof) }),
  v.examples([{ credential: USED_CREDENTIAL_EXAMPLE }]),
);

const RelatedOrigins = v.object({ origins: v.array(v.string()) });

export const shownPasskey = ({ isSynced: synced, isBackedUp: backedUp, ...passkey }: ListedPasskey) => ({
  ...passkey,
  synced,
  backedUp,
});

/** Users register passkeys, and log in with them. ADR 0009. */
export const passkeyRoutes = (deps: Service, access: DeviceAccess, { brand }: UserSite): Route[] => [
  ...ownPasskeyRoutes(deps, brand.name),
  ...passkeyLoginRoutes(deps, access),
  relatedOriginsRoute(deps),
];

const ownPasskeyRoutes = (deps: Service, name: string): Route[] => {
  const useCases = {
    invitePasskey: invitePasskey(deps),
    addPasskey: addPasskey(deps),
    renamePasskey: renamePasskey(deps),
    removePasskey: removePasskey(deps),
  };
  return [
    route(
      {
        name: 'passkey-options',
        tag: 'factors',
        summary: 'Return the options with which a browser makes a passkey',
        method: 'POST',
        path: '/users/me/passkeys/options',
        stepUp: FACTOR_CHANGE,
        response: { data: CreationOptionsJson },
      },
      async ({ caller }) => creationOptions({ ...deps.webauthn, name }, await useCases.invitePasskey(caller)),
    ),
    route(
      {
        name: 'add-passkey',
        tag: 'factors',
        summary: 'Add a passkey that the browser has made',
        method: 'POST',
        path: '/users/me/passkeys',
        throttle: 'strict',
        stepUp: FACTOR_CHANGE,
        request: { body: NewPasskeyBody },
        response: { status: 201, data: PasskeyJson },
        errors: ['AUTH_PASSKEY_INVALID', 'DB_UNIQUE_VIOLATION'],
      },
      async ({ caller, body }, ctx) => shownPasskey(await useCases.addPasskey(caller, body, originOf(ctx))),
    ),
    route(
      {
        name: 'rename-passkey',
        tag: 'factors',
        summary: 'Change the name of a passkey',
        method: 'PATCH',
        path: '/users/me/passkeys/:id',
        stepUp: FACTOR_CHANGE,
        request: { params: IdParams, body: PasskeyNameBody },
        response: { data: PasskeyJson },
      },
      async ({ caller, params, body }) => shownPasskey(await useCases.renamePasskey(caller, params.id, body.name)),
    ),
    route(
      {
        name: 'remove-passkey',
        tag: 'factors',
        summary: 'Remove a passkey, and return which are left',
        method: 'DELETE',
        path: '/users/me/passkeys/:id',
        stepUp: FACTOR_CHANGE,
        request: { params: IdParams },
        response: { data: AcceptedPasskeysJson },
      },
      async ({ caller, params }, ctx) => {
        const left = await useCases.removePasskey(caller, params.id, originOf(ctx));
        return acceptedPasskeys(deps.webauthn, left);
      },
    ),
  ];
};

const passkeyLoginRoutes = (deps: Service, access: DeviceAccess): Route[] => {
  const useCases = { passkeyChallenge: passkeyChallenge(deps), logInWithPasskey: logInWithPasskey(deps) };
  return [
    route(
      {
        name: 'passkey-login-options',
        tag: 'tokens',
        summary: 'Return the options with which a browser uses a passkey of any user',
        method: 'POST',
        path: '/auth/passkey/options',
        auth: 'public',
        response: { data: RequestOptionsJson },
      },
      () => requestOptions(deps.webauthn, useCases.passkeyChallenge()),
    ),
    route(
      {
        ...OPENS_SESSION,
        name: 'passkey-login',
        summary: 'Log in with a passkey and open a session',
        path: '/auth/passkey',
        throttle: 'strict',
        request: { body: PasskeyLoginBody },
        response: { data: LoginResult },
        errors: loginErrors(deps, 'AUTH_PASSKEY_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED', 'DB_RECORD_NOT_FOUND'),
      },
      async ({ body: { credential, proof }, signal }, ctx) => {
        const { refreshTokens } = loginSourceOf(ctx, access);
        const input = { credential, refreshTokens, presented: access.device(ctx, proof), origin: originOf(ctx) };
        return handOver(ctx, access, await useCases.logInWithPasskey(input, signal));
      },
    ),
  ];
};

/** Lets applications at other hosts use the passkeys (WebAuthn Level 3 §5.11). */
const relatedOriginsRoute = ({ webauthn }: Pick<Service, 'webauthn'>): Route =>
  route(
    {
      name: 'related-origins',
      tag: 'documents',
      summary: 'Return the origins whose pages may use the passkeys',
      ...PUBLIC_READ,
      path: '/.well-known/webauthn',
      response: {
        data: v.pipe(RelatedOrigins, v.examples([{ origins: ['https://app.example.org'] }])),
        unwrapped: { type: 'application/json', cacheControl: 'public, max-age=300' },
      },
    },
    () => ({ origins: [...webauthn.origins] }),
  );
