import { type ClientAuth, ClientSecretBasic, ClientSecretPost, type ServerMetadata } from 'openid-client';

/** How a provider wants the client secret: OpenID Connect Discovery §3, whose default is `client_secret_basic`. */
export const secretMethod = ({ token_endpoint_auth_methods_supported: named }: ServerMetadata) =>
  named?.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';

export const secretClient = (secret: string): ClientAuth => {
  const methods = { client_secret_post: ClientSecretPost(secret), client_secret_basic: ClientSecretBasic(secret) };
  return (server, ...request) => methods[secretMethod(server)](server, ...request);
};
