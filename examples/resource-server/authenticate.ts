import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';

/** Whom the server trusts, and for whom a token has to be. */
export type Trust = { readonly keySet: URL; readonly issuer: string; readonly audience: string };

/** A request without a valid access token, or one that cannot be judged while there are no keys. */
export class Refused extends Error {
  readonly status: 401 | 503;
  readonly headers: Record<string, string>;

  constructor(status: 401 | 503, headers: Record<string, string>, cause?: unknown) {
    super(status === 401 ? 'no valid access token' : 'the keys cannot be fetched', { cause });
    this.status = status;
    this.headers = headers;
  }
}

const WITHOUT_KEYS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];
const invalid = (cause?: unknown) => new Refused(401, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }, cause);

/** Returns a function from the header `Authorization` to the claims of its access token. It throws `Refused`. */
export const verifier = ({ keySet, issuer, audience }: Trust) => {
  const keys = createRemoteJWKSet(keySet, { cacheMaxAge: 300_000 });
  const requiredClaims = ['sub', 'iat', 'exp', 'jti'];
  // Clocks differ by some seconds.
  const rules = { algorithms: ['ES256'], typ: 'JWT', issuer, audience, requiredClaims, clockTolerance: 5 };
  return async (authorization = ''): Promise<JWTPayload> => {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    if (token === undefined) throw new Refused(401, { 'WWW-Authenticate': 'Bearer' });
    const { payload } = await jwtVerify(token, keys, rules).catch((error) => {
      const isBadToken = error instanceof errors.JOSEError && !WITHOUT_KEYS.includes(error.code);
      throw isBadToken ? invalid(error) : new Refused(503, { 'Retry-After': '5' }, error);
    });
    if (payload.tokenType !== 'access') throw invalid();
    return payload;
  };
};
