import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';

/** Whom the server trusts, and for whom a token has to be. */
export type Trust = { readonly keySet: URL; readonly issuer: string; readonly audience: string };

/** Whether a token was taken back before it has expired: `isEnded` of `followEndedSessions`. Throws if that is not known. */
export type IsEnded = (token: { readonly sid?: unknown; readonly sub?: string; readonly iat?: number }) => boolean;

/** A request without a valid access token, or one that cannot be judged while the service is gone. */
export class Refused extends Error {
  readonly status: 401 | 503;
  readonly headers: Record<string, string>;

  constructor(status: 401 | 503, headers: Record<string, string>, cause?: unknown) {
    super(status === 401 ? 'no valid access token' : 'the authentication service cannot be reached', { cause });
    this.status = status;
    this.headers = headers;
  }
}

const WITHOUT_KEYS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];
const invalid = (cause?: unknown) => new Refused(401, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }, cause);

/** Returns a function from the header `Authorization` to the claims of its access token. It throws `Refused`. */
export const verifier = ({ keySet, issuer, audience }: Trust, isEnded: IsEnded = () => false) => {
  const keys = createRemoteJWKSet(keySet, { cacheMaxAge: 300_000 });
  const requiredClaims = ['sub', 'iat', 'exp', 'jti'];
  // Clocks differ by some seconds.
  const rules = { algorithms: ['ES256'], typ: 'JWT', issuer, audience, requiredClaims, clockTolerance: 5 };
  return async (authorization = ''): Promise<JWTPayload> => {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    if (token === undefined) throw new Refused(401, { 'WWW-Authenticate': 'Bearer' });
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, rules);
      // A token with `cnf` needs a proof, too: `createServerAuth` of tandem-client/server verifies both.
      const isBearer = payload.tokenType === 'access' && payload.cnf === undefined;
      if (isBearer && !isEnded({ ...payload, sid: protectedHeader.sid })) return payload;
    } catch (error) {
      const isBadToken = error instanceof errors.JOSEError && !WITHOUT_KEYS.includes(error.code);
      throw isBadToken ? invalid(error) : new Refused(503, { 'Retry-After': '5' }, error);
    }
    throw invalid();
  };
};
