import { SignJWT } from 'jose';
import * as client from 'openid-client';
import { type ClientAuth, ClientSecretBasic, ClientSecretPost, type ServerMetadata } from 'openid-client';
import { AppError } from '../../domain/errors/app-error.ts';
import { monotonicTime } from '../clock/system.ts';
import { addressFrom, CLIENT_METADATA, CLIENT_OPTIONS, providerUnavailable } from './requests.ts';
import type { AppleKey, Protocol, ProviderSettings } from './settings.ts';

/** `client_secret_post` if the provider supports it; otherwise the default of OpenID Connect Discovery §3. */
const secretMethod = ({ token_endpoint_auth_methods_supported: methods }: ServerMetadata) =>
  methods?.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';

const secretClient = (secret: string): ClientAuth => {
  const methods = { client_secret_post: ClientSecretPost(secret), client_secret_basic: ClientSecretBasic(secret) };
  return (server, ...request) => methods[secretMethod(server)](server, ...request);
};

/** Apple accepts up to six months. Five minutes are enough, since each secret is used once. */
const APPLE_SECRET_LIFETIME = '5m';

/** Apple's client secret is a JWT that the developer's key signs (Sign in with Apple, "Creating a client secret"). */
const appleClient =
  ({ teamId, keyId, privateKey }: AppleKey): ClientAuth =>
  async (_server, { client_id: clientId }, body) => {
    const secret = new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience('https://appleid.apple.com')
      .setIssuedAt()
      .setExpirationTime(APPLE_SECRET_LIFETIME);
    body.set('client_id', clientId);
    body.set('client_secret', await secret.sign(privateKey));
  };

/** Milliseconds after which the configuration of a provider is read again. openid-client renews the key set itself. */
const DISCOVERY_LIFETIME = 86_400_000;
/** The same after an AUTH_IDENTITY_UNPROVEN, since endpoints or algorithms may have changed. */
const DISCOVERY_LIFETIME_AFTER_FAILURE = 60_000;

/** Reads the configuration of a provider with the first sign-in, so the service also starts while a provider is unavailable. */
const discovery = (settings: ProviderSettings): Pick<Protocol, 'configuration' | 'onSignInEnd'> => {
  const { issuer, clientId, clientSecret } = settings;
  // Issuers with `http:` are on this machine: `src/infrastructure/config` refuses others.
  const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  // Without these checks, openid-client does not verify the signature of an ID token from the token endpoint.
  const execute = [client.enableNonRepudiationChecks, ...insecure];
  const authentication = typeof clientSecret === 'string' ? secretClient(clientSecret) : appleClient(clientSecret);
  const discover = async () => {
    const options = { ...CLIENT_OPTIONS, execute };
    const configuration = await client.discovery(new URL(issuer), clientId, CLIENT_METADATA, authentication, options);
    // Throws if the configuration has no authorization endpoint.
    client.buildAuthorizationUrl(configuration, {});
    return configuration;
  };
  let lastRead: { readonly at: number; readonly configuration: Promise<client.Configuration> } | undefined;
  const isOlderThan = (age: number) => lastRead === undefined || monotonicTime() - lastRead.at >= age;
  return {
    configuration: async () => {
      if (lastRead !== undefined && !isOlderThan(DISCOVERY_LIFETIME)) return lastRead.configuration;
      const configuration = discover().catch((error: unknown) => {
        lastRead = undefined;
        throw providerUnavailable('the document of the provider cannot be read', error);
      });
      lastRead = { at: monotonicTime(), configuration };
      return configuration;
    },
    onSignInEnd: (error) => {
      const isUnproven = error instanceof AppError && error.code === 'AUTH_IDENTITY_UNPROVEN';
      if (isUnproven && isOlderThan(DISCOVERY_LIFETIME_AFTER_FAILURE)) lastRead = undefined;
    },
  };
};

/** Some providers send the text `true` instead of the boolean. */
const isTrue = (claim: unknown): boolean => claim === true || claim === 'true';

/** OpenID Connect, with the authorization code flow. */
export const openId = (settings: ProviderSettings): Protocol => ({
  ...discovery(settings),
  hasIdToken: true,
  clientMethod: (configuration) =>
    typeof settings.clientSecret === 'string' ? secretMethod(configuration.serverMetadata()) : 'client_secret_post',
  identityOf: async (configuration, tokens) => {
    const claims = tokens.claims();
    if (claims === undefined) throw new TypeError('there is no ID token');
    const { issuer, userinfo_endpoint: userInfo } = configuration.serverMetadata();
    const address = await addressFrom(async () => {
      const { email, email_verified: isVerified } =
        claims.email === undefined && userInfo !== undefined
          ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : claims;
      // Another issuer in the ID token is a tenant of the provider, whose administrators can claim any address.
      const isEmailVerified = isTrue(isVerified) && claims.iss === issuer;
      return { email: typeof email === 'string' ? email : null, isEmailVerified };
    });
    // The issuer is that of the ID token, which openid-client has checked: Microsoft's `iss` contains the tenant of the user.
    return {
      ...{ issuer: claims.iss, subject: claims.sub, ...address },
      ...(typeof claims.auth_time === 'number' && { authenticatedAt: claims.auth_time * 1000 }),
    };
  },
});
