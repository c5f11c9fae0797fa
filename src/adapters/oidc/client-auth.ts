import { SignJWT } from 'jose';
import { type ClientAuth, ClientSecretBasic, ClientSecretPost, type ServerMetadata } from 'openid-client';
import type { AppleKey } from './settings.ts';

/** How a provider wants the client secret: OpenID Connect Discovery §3, whose default is `client_secret_basic`. */
export const secretMethod = ({ token_endpoint_auth_methods_supported: named }: ServerMetadata) =>
  named?.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';

export const secretClient = (secret: string): ClientAuth => {
  const methods = { client_secret_post: ClientSecretPost(secret), client_secret_basic: ClientSecretBasic(secret) };
  return (server, ...request) => methods[secretMethod(server)](server, ...request);
};

/** Apple accepts up to six months; a secret is used once here. */
const LIFETIME = '5m';

/**
 * Authenticates as Apple wants it: the client secret is a JWT, signed with a key of the developer's (Sign in with Apple, "Creating a client secret").
 */
export const appleClient =
  ({ teamId, keyId, privateKey }: AppleKey): ClientAuth =>
  async (_server, { client_id: clientId }, body) => {
    const secret = new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience('https://appleid.apple.com')
      .setIssuedAt()
      .setExpirationTime(LIFETIME);
    body.set('client_id', clientId);
    body.set('client_secret', await secret.sign(privateKey));
  };
