import { createPrivateKey } from 'node:crypto';
import { Provider } from 'oidc-provider';
import { HOST, port, REFRESH_LIFETIME_SECONDS, tokenKeys } from './environment.ts';
import { OidcStore } from './oidc-store.ts';

const CLIENT = 'bench';
const SCOPE = 'openid offline_access';

const key = { ...createPrivateKey(tokenKeys().access.privateKey).export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };

/** oidc-provider over a store in memory, with refresh tokens that are replaced at every use. */
const provider = new Provider(`http://${HOST}:${port()}`, {
  adapter: OidcStore,
  jwks: { keys: [key] },
  clients: [
    {
      client_id: CLIENT,
      client_secret: 'a-secret-of-the-bench',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://app.example.org/callback'],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  cookies: { keys: ['a key of the bench'] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  rotateRefreshToken: true,
  ttl: { AccessToken: 900, IdToken: 900, RefreshToken: REFRESH_LIFETIME_SECONDS, Grant: REFRESH_LIFETIME_SECONDS },
});

/** A refresh token without the consent of a person in a browser. */
const openGrant = async (accountId: string): Promise<string> => {
  const client = await provider.Client.find(CLIENT);
  if (client === undefined) throw new Error('the client is not there');
  const grant = new provider.Grant({ accountId, clientId: CLIENT });
  grant.addOIDCScope(SCOPE);
  const grantId = await grant.save();
  const token = new provider.RefreshToken({ accountId, client, grantId, scope: SCOPE, gty: 'authorization_code' });
  return token.save();
};

provider.use(async (ctx, next) => {
  if (ctx.path !== '/bench/grant') return next();
  ctx.body = { refresh_token: await openGrant(String(ctx.query.account)) };
});
provider.listen(port(), HOST);
