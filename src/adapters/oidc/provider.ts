import * as client from 'openid-client';
import type { IdentityProvider } from '../../application/ports/identity-providers.ts';
import { asking } from './asking.ts';
import { gitHub } from './github.ts';
import { openId } from './open-id.ts';
import type { Protocol } from './protocol.ts';
import { callbackPath, type ProviderSettings } from './settings.ts';

const PROTOCOLS = { openid: openId, github: gitHub } as const;

/** A provider over openid-client, which checks the answers. @param baseUrl of the service, without a trailing slash. */
export const identityProvider = (
  settings: ProviderSettings,
  baseUrl: string,
  protocol: Protocol = PROTOCOLS[settings.protocol](settings),
): IdentityProvider => {
  const { name, title, scopes, formPost } = settings;
  const { configuration, hasIdToken, identityOf } = protocol;
  const redirectUri = `${baseUrl}${callbackPath(name)}`;
  const ask = asking();
  return {
    name,
    title,
    begin: ({ state, nonce, verifier }) =>
      ask(async () => {
        const url = client.buildAuthorizationUrl(await configuration(), {
          ...{ redirect_uri: redirectUri, scope: scopes.join(' '), state, code_challenge_method: 'S256' },
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          ...(hasIdToken && { nonce }),
          ...(formPost && { response_mode: 'form_post' }),
        });
        return url.href;
      }),
    complete: ({ state: expectedState, nonce, verifier: pkceCodeVerifier }, answer) =>
      ask(async () => {
        const found = await configuration();
        const checks = { expectedState, pkceCodeVerifier, ...(hasIdToken && { expectedNonce: nonce }) };
        const tokens = await client.authorizationCodeGrant(found, new URL(`${redirectUri}?${answer}`), checks);
        return { provider: name, ...(await identityOf(found, tokens)) };
      }),
  };
};

/** The configured providers, by their names. */
export const identityProviders = (
  settings: readonly ProviderSettings[],
  baseUrl: string,
): ReadonlyMap<string, IdentityProvider> =>
  new Map(settings.map((each) => [each.name, identityProvider(each, baseUrl)]));
