import * as v from 'valibot';
import { texts } from '../../../json/fields.ts';
import { PUBLIC_READ, type Route, redirectRoute, route } from '../../routing/define-route.ts';

/** A public key (RFC 7518 §6.2.1). The schema has only public members, so that no response can have a private key. */
const PublicJwk = v.pipe(
  v.object({
    ...{ kty: v.literal('EC'), crv: v.literal('P-256'), use: v.literal('sig'), alg: v.literal('ES256') },
    ...texts('x', 'y', 'kid'),
  }),
  v.title('PublicKey'),
);
const KeySet = v.object({ keys: v.array(PublicJwk) });

/** Seconds for which other services may cache the key set. A change of keys has to wait for so long before the new key signs. */
export const KEY_SET_MAX_AGE = 300;

/** The public keys as a JWK Set (RFC 7517 §5, §8.5.2). */
export const keySetRoute = (keySet: v.InferInput<typeof KeySet>): Route =>
  route({
    ...PUBLIC_READ,
    name: 'key-set',
    tag: 'documents',
    summary: 'Return the public keys of access tokens as a JWK Set',
    description: 'The current key comes first. Keep them for five minutes at most.',
    at: 'GET /.well-known/jwks.json',
    response: {
      data: KeySet,
      unwrapped: { type: 'application/jwk-set+json', cacheControl: `public, max-age=${KEY_SET_MAX_AGE}` },
    },
    handler: () => keySet,
  });

const AuthorizationServer = v.object({
  ...texts('issuer', 'jwks_uri'),
  response_types_supported: v.array(v.string()),
  grant_types_supported: v.array(v.string()),
  dpop_signing_alg_values_supported: v.optional(v.array(v.string())),
});

const CACHED_JSON = { type: 'application/json', cacheControl: 'public, max-age=3600' };

/** Metadata (RFC 8414 §2) for gateways that find the keys by the issuer. @param isBinding whether tokens may be bound to keys (RFC 9449 §5.1) */
export const authorizationServerRoute = (issuer: string, baseUrl: string, isBinding: boolean): Route =>
  route({
    ...PUBLIC_READ,
    name: 'authorization-server',
    tag: 'documents',
    summary: 'Return the issuer of access tokens, and where its keys are',
    at: 'GET /.well-known/oauth-authorization-server',
    response: { data: AuthorizationServer, unwrapped: CACHED_JSON },
    handler: () => ({
      issuer,
      jwks_uri: `${baseUrl}/.well-known/jwks.json`,
      // Empty, since the service has no endpoints of OAuth: the first is required, and the default of the second names grants.
      response_types_supported: [],
      grant_types_supported: [],
      ...(isBinding && { dpop_signing_alg_values_supported: ['ES256'] }),
    }),
  });

/** Redirects to the page that sets a new password (W3C "A Well-Known URL for Changing Passwords"). */
export const changePasswordRoute = (page: string): Route =>
  redirectRoute(
    {
      name: 'change-password-page',
      tag: 'documents',
      summary: 'Lead to the page on which users set a new password',
      description: 'For password managers, at the host of the log-in page.',
      at: 'GET /.well-known/change-password',
    },
    page,
  );

/** Names the page that manages passkeys (W3C "A Well-Known URL for Relying Party Passkey Endpoints"). */
export const passkeyEndpointsRoute = (page: string): Route =>
  route({
    ...PUBLIC_READ,
    name: 'passkey-endpoints',
    tag: 'documents',
    summary: 'Return the page on which users add and remove passkeys',
    description: 'For password managers, at the domain WEBAUTHN_RP_ID.',
    at: 'GET /.well-known/passkey-endpoints',
    response: { data: v.object(texts('enroll', 'manage')), unwrapped: CACHED_JSON },
    handler: () => ({ enroll: page, manage: page }),
  });

/** Files that tell phones which apps may use the domain's passkeys and open its links. @param apps as in NATIVE_APPS @param paths the paths of the links */
export const appAssociationRoutes = (apps: readonly string[], paths: readonly string[]): Route[] => {
  const relations = ['get_login_creds', ...(paths.length > 0 ? ['handle_all_urls'] : [])];
  const relation = relations.map((each) => `delegate_permission/common.${each}`);
  const android = apps.flatMap((app) => {
    const [, name, fingerprint] = /^android:([^:]+):(.*)$/.exec(app) ?? [];
    const target = { namespace: 'android_app', package_name: name, sha256_cert_fingerprints: [fingerprint] };
    return name === undefined ? [] : [{ relation, target }];
  });
  const appIDs = apps.flatMap((app) => /^apple:(.*)$/.exec(app)?.[1] ?? []);
  const details = paths.length === 0 ? [] : [{ appIDs, components: paths.map((path) => ({ '/': path })) }];
  return [
    ...(android.length === 0 ? [] : [associationRoute('assetlinks.json', android)]),
    ...(appIDs.length === 0
      ? []
      : [associationRoute('apple-app-site-association', { webcredentials: { apps: appIDs }, applinks: { details } })]),
  ];
};

const associationRoute = (file: string, data: object): Route =>
  route({
    ...PUBLIC_READ,
    name: file.replace('.json', ''),
    tag: 'documents',
    summary: 'Return the apps that use the passkeys',
    at: `GET /.well-known/${file}`,
    response: { data: v.pipe(v.unknown(), v.examples([data])), unwrapped: CACHED_JSON },
    handler: () => data,
  });
