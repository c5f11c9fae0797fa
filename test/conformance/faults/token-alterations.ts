import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { issues, type Json, parsed, withBody, withCookie } from './alterations.ts';
import type { Answered, Asked, Behavior } from './faulty-server.ts';

type Change = (token: string) => string;
type Changes = { readonly access?: Change; readonly refresh?: Change };

const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const partIn = (token: string, index: number): Json =>
  parsed(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());
const claimsIn = (token: string): Json => partIn(token, 1);

export const withClaims =
  (change: (claims: Json) => Json): Change =>
  (token) => {
    const [header, , signature] = token.split('.');
    return `${header}.${encoded(change(claimsIn(token)))}.${signature}`;
  };

export const withHeader =
  (change: (header: Json) => Json): Change =>
  (token) => {
    const [, claims, signature] = token.split('.');
    return `${encoded(change(partIn(token, 0)))}.${claims}.${signature}`;
  };

/** Replaces what looks like a token in the headers of a request. */
const withTokens = (asked: Asked, change: Change): Asked => {
  const headers = { ...asked.headers };
  for (const name of ['authorization', 'cookie'] as const) {
    const value = headers[name]?.replace(/ey\S+$/, change);
    if (value !== undefined) headers[name] = value;
  }
  return { ...asked, headers };
};

/** Issues other tokens than the service does, and accepts them as the service accepts its own. */
export const reissuing =
  ({ access, refresh }: Changes) =>
  (): Behavior => {
    const valid = new Map<string, string>();
    const changed =
      (change: Change): Change =>
      (token) => {
        const other = change(token);
        valid.set(other, token);
        return other;
      };
    return async (asked, forward) => {
      const answered = await forward(withTokens(asked, (token) => valid.get(token) ?? token));
      if (!issues(asked, answered)) return answered;
      const withAccess = access === undefined ? answered : inBody(answered, changed(access));
      return refresh === undefined
        ? withAccess
        : withCookie((line) => line.replace(/(?<=^refresh_token=)[^;]+/, changed(refresh)))(withAccess);
    };
  };

const inBody = (answered: Answered, change: Change): Answered =>
  withBody((body) => {
    const data = body.data as Json;
    return { ...body, data: { ...data, accessToken: change(String(data.accessToken)) } };
  })(answered);

/** Signs tokens of both kinds with one key, which it publishes. */
export const signingBothWithOneKey = (): Behavior => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signed: Change = (token) => {
    const input = token.slice(0, token.lastIndexOf('.'));
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  };
  const keySet = JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] });
  const behavior = reissuing({ access: signed, refresh: signed })();
  return async (asked, forward) => {
    const answered = await behavior(asked, forward);
    return asked.path.endsWith('jwks.json') ? { ...answered, body: keySet } : answered;
  };
};

type Trust = { readonly anyKind?: boolean; readonly accepts?: (token: string) => boolean };

/**
 * Takes a token for the one that has its `jti`, whatever its signature is, or if it is accepted; with `anyKind`, an access token for a
 * refresh token.
 */
export const trusting =
  ({ anyKind = false, accepts = () => true }: Trust = {}) =>
  (): Behavior => {
    const valid = new Map<unknown, string>();
    let lastRefresh = '';
    const corrected: Change = (token) => {
      const { jti, tokenType } = claimsIn(token);
      if (anyKind && tokenType === 'access') return lastRefresh;
      return (accepts(token) && valid.get(jti)) || token;
    };
    return async (asked, forward) => {
      const answered = await forward(
        withTokens(asked, anyKind && asked.headers.cookie === undefined ? (token) => token : corrected),
      );
      if (!issues(asked, answered)) return answered;
      const access = /"accessToken":"([^"]+)"/.exec(answered.body)?.[1] ?? '';
      lastRefresh = /=([^;]+)/.exec(answered.headers['set-cookie']?.[0] ?? '')?.[1] ?? '';
      for (const token of [access, lastRefresh]) valid.set(claimsIn(token).jti, token);
      return answered;
    };
  };

/** Takes what the header of a token names for its algorithm, `none` too. */
export const trustingUnsigned = trusting({ accepts: (token) => partIn(token, 0).alg === 'none' });

/** The same with HS256: the secret is the public key, as a file in PEM has it. */
export const trustingHmac =
  (fileOf: (pem: string) => string = (pem) => pem) =>
  (): Behavior => {
    let secret = '';
    const isSigned = (token: string): boolean => {
      const [header, claims, signature] = token.split('.');
      const expected = createHmac('sha256', secret).update(`${header}.${claims}`).digest('base64url');
      return partIn(token, 0).alg === 'HS256' && signature === expected;
    };
    const behavior = trusting({ accepts: isSigned })();
    return async (asked, forward) => {
      if (secret === '') {
        const { body } = await forward({ method: 'GET', path: '/.well-known/jwks.json', headers: {}, body: '' });
        const [key] = parsed(body).keys as [Json];
        secret = fileOf(createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString());
      }
      return behavior(asked, forward);
    };
  };
