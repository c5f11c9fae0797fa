import * as client from 'openid-client';
import type { IdentityProvider } from '../../application/ports/identity-providers.ts';
import { RECENT_AUTHENTICATION } from '../../domain/assurance.ts';
import { LoggableError } from '../log/redact-error.ts';
import { gitHub } from './github.ts';
import { openId } from './open-id.ts';
import { limitedSignIns } from './requests.ts';
import type { Protocol, ProviderSettings } from './settings.ts';

const PROTOCOLS: Readonly<Record<ProviderSettings['protocol'], (of: ProviderSettings) => Protocol>> = {
  openid: openId,
  github: gitHub,
};

/** @param baseUrl the URL of the service, without a trailing slash */
const identityProvider = (settings: ProviderSettings, baseUrl: string): IdentityProvider => {
  const { name, title, scopes, formPost, protocol } = settings;
  const { configuration, hasIdToken, clientMethod, onSignInEnd, identityOf } = PROTOCOLS[protocol](settings);
  const redirectUri = `${baseUrl}/auth/oidc/${name}/callback`;
  const ask = limitedSignIns();
  return {
    name,
    title,
    callback: { url: redirectUri, isPosted: formPost },
    begin: ({ state, nonce, verifier }, mustReauthenticate) =>
      ask(async () => {
        const url = client.buildAuthorizationUrl(await configuration(), {
          ...{ redirect_uri: redirectUri, scope: scopes.join(' '), state, code_challenge_method: 'S256' },
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          ...(hasIdToken && { nonce }),
          // With `max_age`, the ID token has `auth_time` (OpenID Connect Core §3.1.2.1), unless the provider ignores it.
          ...(hasIdToken && mustReauthenticate && { max_age: `${RECENT_AUTHENTICATION.recent / 1000}` }),
          ...(formPost && { response_mode: 'form_post' }),
        });
        return url.href;
      }),
    complete: ({ state: expectedState, nonce, verifier: pkceCodeVerifier }, answer) => {
      const identity = ask(async () => {
        const config = await configuration();
        const checks = { expectedState, pkceCodeVerifier, ...(hasIdToken && { expectedNonce: nonce }) };
        const url = new URL(`${redirectUri}?${answer}`);
        const tokens = await client.authorizationCodeGrant(config, url, checks).catch((cause: unknown) => {
          const isOfTokenEndpoint = cause instanceof client.ResponseBodyError;
          throw isOfTokenEndpoint
            ? new LoggableError(`the client secret was sent by ${clientMethod(config)}`, { cause })
            : cause;
        });
        return { provider: name, ...(await identityOf(config, tokens)) };
      });
      identity.then(({ addressError }) => onSignInEnd(addressError), onSignInEnd);
      return identity;
    },
  };
};

export const identityProviders = (settings: readonly ProviderSettings[], baseUrl: string) =>
  new Map(settings.map((each) => [each.name, identityProvider(each, baseUrl)]));
