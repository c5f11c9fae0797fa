import { createHmac } from 'node:crypto';
import type { TokenSigner, Verified } from '../../src/application/ports/token-signer.ts';
import { describeTokenSigner } from '../contracts/token-signer.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';

/** What a signer leaves out, or does in another way. */
type Fault = {
  readonly key?: string;
  readonly type?: false;
  readonly signature?: false;
  readonly none?: true;
  readonly canonical?: false;
  /** Seconds added to the expiry; `null` when it is ignored. */
  readonly leeway?: number | null;
  readonly sessionId?: false;
  readonly number?: false;
  readonly throws?: true;
};

type Signed = { readonly claims: { readonly exp: number; readonly tokenType: string }; readonly sessionId: string };

const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const isCanonical = (text: string): boolean => text === Buffer.from(text, 'base64url').toString('base64url');
const refused: Verified<never> = { ok: false, reason: 'malformed' };

/** A small signer by HMAC, and what is wrong with it. */
const signer =
  (fault: Fault) =>
  async (key: 'ours' | 'theirs'): Promise<TokenSigner> => {
    const mac = (text: string): string =>
      createHmac('sha256', fault.key ?? key)
        .update(text)
        .digest('base64url');
    const sign = async (token: Signed): Promise<string> => {
      const text = `${base64url({ alg: 'HS256' })}.${base64url(token)}`;
      return `${text}.${mac(text)}`;
    };
    const lost = {
      ...(fault.sessionId === false && { sessionId: '' }),
      ...(fault.number === false && { rotation: 0 }),
    };
    const isSigned = (header: string, payload: string, signature: string): boolean => {
      if (fault.signature === false || (fault.none && json(header).alg === 'none')) return true;
      const given = fault.canonical === false ? Buffer.from(signature, 'base64url').toString('base64url') : signature;
      return given === mac(`${header}.${payload}`) && (fault.canonical === false || isCanonical(signature));
    };
    const read = <Token extends Signed>(text: string, type: string, now: number): Verified<Token> => {
      const [header = '', payload = '', signature = '', ...more] = text.split('.');
      if (more.length > 0 || !isSigned(header, payload, signature)) return refused;
      const token = json(payload);
      if (fault.type !== false && token.claims.tokenType !== type) return refused;
      if (fault.leeway !== null && now >= (token.claims.exp + (fault.leeway ?? 0)) * 1_000) return refused;
      return { ok: true, token: { ...token, ...lost } };
    };
    const verify = async <Token extends Signed>(text: string, type: string, now: number): Promise<Verified<Token>> => {
      try {
        return read(text, type, now);
      } catch (error) {
        if (fault.throws) throw error;
        return refused;
      }
    };
    return {
      signAccess: sign,
      signRefresh: sign,
      verifyAccess: (text, now) => verify(text, 'access', now),
      verifyRefresh: (text, now) => verify(text, 'refresh', now),
    };
  };

/** What a token said when it was verified, by a part of it. */
const caching =
  (keyOf: (text: string, type: string) => string, cache?: Map<string, unknown>) =>
  async (key: 'ours' | 'theirs'): Promise<TokenSigner> => {
    const correct = await signer({})(key);
    const verified = cache ?? new Map<string, unknown>();
    const cached = async <Token extends Signed>(
      text: string,
      type: string,
      now: number,
      result: Promise<Verified<Token>>,
    ) => {
      const known = verified.get(keyOf(text, type)) as Token | undefined;
      if (known !== undefined && now < known.claims.exp * 1_000) return { ok: true as const, token: known };
      const found = await result;
      if (found.ok) verified.set(keyOf(text, type), found.token);
      return found;
    };
    return {
      ...correct,
      verifyAccess: (text, now) => cached(text, 'access', now, correct.verifyAccess(text, now)),
      verifyRefresh: (text, now) => cached(text, 'refresh', now, correct.verifyRefresh(text, now)),
    };
  };

describeTokenSigner('the correct signer', signer({}));

const CHANGED = 'rejects a token that was changed in any part';
const EXPIRED = 'rejects a token from the second of its expiry on';

describeMutants((make: ReturnType<typeof signer>, suite) => describeTokenSigner('a mutant', make, suite), {
  'forgets the session': {
    make: signer({ sessionId: false }),
    caughtBy: 'returns the claims, the session and the number that it signed',
  },
  'forgets the number': {
    make: signer({ number: false }),
    caughtBy: 'returns the claims, the session and the number that it signed',
  },
  'ignores the expiry': { make: signer({ leeway: null }), caughtBy: EXPIRED },
  'tolerates a second': { make: signer({ leeway: 1 }), caughtBy: EXPIRED },
  'expires tokens a second early': { make: signer({ leeway: -1 }), caughtBy: EXPIRED },
  'ignores the signature': { make: signer({ signature: false }), caughtBy: CHANGED },
  'decodes the signature leniently': { make: signer({ canonical: false }), caughtBy: CHANGED },
  'finds a verified token in a cache by its signature': {
    make: caching((text, type) => `${type} ${text.split('.')[2]}`),
    caughtBy: CHANGED,
  },
  'finds a verified token in a cache by what is signed': {
    make: caching((text, type) => `${type} ${text.split('.').slice(0, 2)}`),
    caughtBy: CHANGED,
  },
  'finds a verified token in a cache, whatever its kind': {
    make: caching((text) => text),
    caughtBy: 'rejects an access token as a refresh token, and vice versa',
  },
  'finds a token in a cache that another key has verified': {
    make: caching((text, type) => `${type} ${text}`, new Map()),
    caughtBy: 'rejects a token signed with another key',
  },
  'takes a token at its word that it is not signed': {
    make: signer({ none: true }),
    caughtBy: 'rejects a token that says it is not signed',
  },
  'takes an access token for a refresh token': {
    make: signer({ type: false }),
    caughtBy: 'rejects an access token as a refresh token, and vice versa',
  },
  'has one key in all installations': {
    make: signer({ key: 'built in' }),
    caughtBy: 'rejects a token signed with another key',
  },
  'throws at a text that is no token': {
    make: signer({ throws: true, signature: false }),
    caughtBy: 'rejects a text that is not a token',
  },
});
