import * as v from 'valibot';
import {
  addPasskey,
  beginPasskeyRegistration,
  type ListedPasskey,
  logInWithPasskey,
  passkeyChallenge,
  removePasskey,
  renamePasskey,
} from '../../../../application/factors/passkeys.ts';
import type { Service } from '../../../../application/service.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { AddedPasskeyJson, CreationOptionsJson, PasskeyJson, RequestOptionsJson } from '../../../json/factors.ts';
import { IdParams, Proof } from '../../../json/fields.ts';
import {
  AcceptedPasskeysJson,
  acceptedPasskeys,
  creationOptions,
  NewPasskeyBody,
  PasskeyNameBody,
  requestOptions,
  UsedCredential,
} from '../../../json/passkeys.ts';
import type { UserSite } from '../../pages/layout.ts';
import { type DeviceAccess, eventOriginOf, loginSourceOf } from '../../request/client.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';
import { LOGIN_ROUTE, loginErrors, sendSession } from '../login/login.ts';

const PasskeyLoginBody = v.object({ credential: UsedCredential, proof: v.optional(Proof) });

export const passkeyJson = ({ isSynced: synced, isBackedUp: backedUp, ...passkey }: ListedPasskey) => ({
  ...passkey,
  synced,
  backedUp,
});

/** Users add, rename and remove passkeys, and log in with them (ADR 0009). */
export const passkeyRoutes = (deps: Service, deviceAccess: DeviceAccess, { brand }: UserSite): Route[] => [
  ...ownPasskeyRoutes(deps, brand.name),
  ...passkeyLoginRoutes(deps, deviceAccess),
];

export const FACTOR_ROUTE = { tag: 'factors', stepUp: FACTOR_CHANGE } as const;

const ownPasskeyRoutes = (deps: Service, name: string): Route[] => [
  route({
    ...FACTOR_ROUTE,
    name: 'passkey-options',
    summary: 'Return the options with which a browser makes a passkey',
    description:
      'The argument of `PublicKeyCredential.parseCreationOptionsFromJSON`, for ten minutes and this session.',
    at: 'POST /users/me/passkeys/options',
    response: { data: CreationOptionsJson },
    handler: async ({ caller }) =>
      creationOptions({ ...deps.webauthn, name }, await beginPasskeyRegistration(deps)(caller)),
  }),
  route({
    ...FACTOR_ROUTE,
    name: 'add-passkey',
    summary: 'Add a passkey that the browser has made',
    description: 'At most 50. `recoveryCodes` are for a user who has no other way in, and shown this once.',
    at: 'POST /users/me/passkeys',
    throttle: 'strict',
    request: { body: NewPasskeyBody },
    response: { status: 201, data: AddedPasskeyJson },
    errors: ['AUTH_PASSKEY_INVALID', 'DB_UNIQUE_VIOLATION'],
    handler: async ({ caller, body }, ctx) => passkeyJson(await addPasskey(deps)(caller, body, eventOriginOf(ctx))),
  }),
  route({
    ...FACTOR_ROUTE,
    name: 'rename-passkey',
    summary: 'Change the name of a passkey',
    at: 'PATCH /users/me/passkeys/:id',
    request: { params: IdParams, body: PasskeyNameBody },
    response: { data: PasskeyJson },
    handler: async ({ caller, params, body }) => passkeyJson(await renamePasskey(deps)(caller, params.id, body.name)),
  }),
  route({
    ...FACTOR_ROUTE,
    name: 'remove-passkey',
    summary: 'Remove a passkey, and return which are left',
    description:
      '`data` is the argument of `PublicKeyCredential.signalAllAcceptedCredentials`: the browser stops offering what is gone.',
    at: 'DELETE /users/me/passkeys/:id',
    request: { params: IdParams },
    response: { data: AcceptedPasskeysJson },
    handler: async ({ caller, params }, ctx) =>
      acceptedPasskeys(deps.webauthn, await removePasskey(deps)(caller, params.id, eventOriginOf(ctx))),
  }),
];

const passkeyLoginRoutes = (deps: Service, deviceAccess: DeviceAccess): Route[] => [
  route({
    name: 'passkey-login-options',
    tag: 'tokens',
    summary: 'Return the options with which a browser uses a passkey of any user',
    description:
      'The argument of `PublicKeyCredential.parseRequestOptionsFromJSON`. Nothing is stored: ask again before `expiresAt`.',
    at: 'POST /auth/passkey/options',
    auth: 'public',
    response: { data: RequestOptionsJson },
    handler: () => requestOptions(deps.webauthn, passkeyChallenge(deps)()),
  }),
  route({
    ...LOGIN_ROUTE,
    name: 'passkey-login',
    summary: 'Log in with a passkey and open a session',
    description:
      'Two factors, if the device has verified its user. After `DB_RECORD_NOT_FOUND`, call `PublicKeyCredential.signalUnknownCredential`.',
    at: 'POST /auth/passkey',
    request: { body: PasskeyLoginBody },
    errors: loginErrors(deps, 'AUTH_PASSKEY_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED', 'DB_RECORD_NOT_FOUND'),
    handler: async ({ body, signal }, ctx) => {
      const input = { ...body, ...loginSourceOf(ctx, deviceAccess, body.proof) };
      return sendSession(ctx, deviceAccess, await logInWithPasskey(deps)(input, signal));
    },
  }),
  // Browsers read this document to let applications at other hosts use the passkeys (WebAuthn Level 3 §5.11).
  route({
    ...PUBLIC_READ,
    name: 'related-origins',
    tag: 'documents',
    summary: 'Return the origins whose pages may use the passkeys',
    at: 'GET /.well-known/webauthn',
    response: {
      data: v.object({ origins: v.array(v.string()) }),
      unwrapped: { type: 'application/json', cacheControl: 'public, max-age=300' },
    },
    handler: () => ({ origins: [...deps.webauthn.origins] }),
  }),
];
