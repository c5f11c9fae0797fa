import { createRemoteJWKSet, customFetch, errors, type JWTVerifyOptions, jwtVerify } from 'jose';
import { AuthError } from './auth-error.ts';
import { isProven } from './proof.ts';
import { dataOf } from './response.ts';
import type { RefreshResult, ServerAuthOptions, User } from './types.ts';

/** Milliseconds: the time limit of a request to the service, how long its keys are kept, and how long before its end a token is renewed. */
const [TIMEOUT, KEYS_AGE, MARGIN] = [5_000, 300_000, 10_000];
/** Errors of jose that do not mean that the token is bad: the keys could not be read. */
const WITHOUT_KEYS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];

/** RFC 6750 §2.1, RFC 9449 §7.1. */
const CREDENTIALS = /^(Bearer|DPoP) +(\S+)$/i;
const PROOF_CHALLENGE = 'DPoP error="invalid_dpop_proof", algs="ES256"';

type Claims = { user: User; cnf?: { jkt?: string } };

/**
 * Who has sent a request, and when (epoch milliseconds) the token should be renewed. Without a user: whether it is sure that nobody is logged in,
 * why there is no user, and the header `WWW-Authenticate` of an answer to a script.
 */
type Visitor = { user: User | null; token: string; due: number; isNobody: boolean; why: string; challenge: string };
const nobody = (why: string, isNobody = false, challenge = 'Bearer'): Visitor => ({
  ...{ user: null, token: '', due: 0, isNobody, why, challenge },
});

/** The cookies of a name. There may be several, since other hosts of the site may set cookies of the same name. */
const cookiesOf = ({ headers }: Request, name: string): string[] =>
  (headers.get('Cookie')?.split(/; */) ?? []).filter((each) => each.startsWith(`${name}=`)).slice(0, 8);

/** Finds out who the visitors of a page server are: by their access tokens, or by asking the service with their refresh tokens. */
export const visitors = (base: string, options: ServerAuthOptions) => {
  const { issuer, audience, pageServer, fetch: send = fetch } = options;
  const cookieName = options.cookieName ?? (base.startsWith('https:') ? '__Host-access_token' : 'access_token');
  const keySet = `${base}/.well-known/jwks.json`;
  const keys = createRemoteJWKSet(new URL(keySet), { cacheMaxAge: KEYS_AGE, [customFetch]: send });
  const requiredClaims = ['sub', 'iat', 'exp', 'jti', 'user'];
  const rules = { algorithms: ['ES256'], typ: 'JWT', issuer, audience, requiredClaims } as JWTVerifyOptions;

  const noAnswer = (url: string, cause: unknown): AuthError =>
    new AuthError('CLIENT_NETWORK_FAILED', `No response: ${url}`, { cause, retryable: true });

  /** The URL that a proof has to name. The host that the request names is not trusted: another server could pass on a request with its own host. */
  const addressOf = ({ url }: Request): string => {
    if (!options.origin) throw new AuthError('CLIENT_TARGET_REFUSED', 'Set origin: a proof is for this server alone.');
    return new URL(options.origin).origin + new URL(url).pathname;
  };

  /** Verifies an access token (docs/verify-tokens.md). @param prover the request that has to prove the key to which the token is bound */
  const verify = async (token: string, prover?: Request): Promise<Visitor> => {
    const deny = (why: string, challenge?: string): Visitor =>
      nobody(`The access token is not valid: ${why}.`, false, challenge);
    if (token.length > 4096) return deny('too long'); // Browsers keep no cookie of this length.
    try {
      const { payload, protectedHeader } = await jwtVerify<Claims>(token, keys, rules);
      const { iat = 0, exp = 0, tokenType, user, sub = '', cnf } = payload;
      if (options.endedSessions?.isEnded({ sid: protectedHeader.sid, sub, iat })) return deny('its session has ended');
      const hasProof = prover ? await isProven(prover, addressOf(prover), { token, jkt: cnf?.jkt }) : cnf === undefined;
      if (!hasProof) return deny('no proof of the key to which it is bound', PROOF_CHALLENGE);
      // The margin is the time that a page has for its own requests with this token.
      const due = exp * 1000 - Math.min(MARGIN, (exp - iat) * 200);
      return tokenType === 'access' ? { ...nobody(''), user, token, due } : deny('its tokenType');
    } catch (error) {
      if (error instanceof errors.JOSEError && !WITHOUT_KEYS.includes(error.code)) return deny(error.message);
      throw error instanceof AuthError ? error : noAnswer(keySet, error);
    }
  };

  /** Asks the service for an access token by the refresh tokens of a visitor, which are not rotated. */
  const askService = async (Cookie: string, headers: Record<string, string>): Promise<Visitor> => {
    const [url, signal] = [`${base}/auth/access-token`, AbortSignal.timeout(TIMEOUT)];
    const init = { method: 'POST', headers: { ...headers, Cookie }, redirect: 'error', signal } as const;
    try {
      const response = await send(url, init).catch((cause: unknown) => Promise.reject(noAnswer(url, cause)));
      return await verify((await dataOf<RefreshResult>(response)).accessToken);
    } catch (error) {
      const { code, message: why } = error as AuthError;
      // A proof of the device can come from the browser alone.
      if (code !== 'AUTH_FAILED' && code !== 'AUTH_DEVICE_UNPROVEN') throw error;
      return nobody(why, code === 'AUTH_FAILED');
    }
  };

  const identify = async (request: Request): Promise<Visitor> => {
    const [, scheme = '', token] = CREDENTIALS.exec(request.headers.get('Authorization') ?? '') ?? [];
    const isDpop = /^dpop$/i.test(scheme);
    const caller = token ? await verify(token, isDpop ? request : undefined) : null;
    // A Bearer token that is not valid is ignored: it may be that of a proxy in front of the pages.
    if (caller?.user || (caller && isDpop)) return caller;
    let visitor: Visitor | null = null;
    for (const each of cookiesOf(request, cookieName))
      if (!visitor?.user) visitor = await verify(each.slice(cookieName.length + 1));
    const refreshTokens = ['__Host-Http-', '__Http-', ''].flatMap((prefix) =>
      cookiesOf(request, `${prefix}refresh_token`),
    );
    if (!visitor?.user && pageServer && refreshTokens.length > 0)
      return askService(refreshTokens.join('; '), {
        Authorization: `Basic ${btoa(`${pageServer.id}:${pageServer.secret}`)}`,
        'X-Visitor-Address': pageServer.visitorAddress(request),
      });
    return visitor ?? caller ?? nobody(`No cookie ${cookieName} has arrived.`, !!pageServer);
  };

  const cache = new WeakMap<Request, Promise<Visitor>>();
  /** @throws AuthError if that cannot be found out, for example because the service does not answer */
  return (request: Request): Promise<Visitor> => {
    if (!cache.has(request)) cache.set(request, identify(request));
    return cache.get(request) as Promise<Visitor>;
  };
};
