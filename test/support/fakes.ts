import type { PasswordHasher } from '../../src/application/ports/password-hasher.ts';
import type { Proofs } from '../../src/application/ports/proofs.ts';
import type { AccessToken, RefreshToken, TokenSigner, Verification } from '../../src/application/ports/token-signer.ts';
import { isHashable } from '../../src/domain/password.ts';

/** A token signer without cryptography. It accepts exactly the tokens that it has issued. */
export const plainTokenSigner = (key = 'a key'): TokenSigner => {
  const accessTokens = new Map<string, AccessToken>();
  const refreshTokens = new Map<string, RefreshToken>();

  const issue = <T>(issued: Map<string, T>, token: T): string => {
    const text = JSON.stringify([key, token]);
    issued.set(text, structuredClone(token));
    return text;
  };
  const recognise = <T>(token: T | undefined, exp: number | undefined, now: number): Verification<T> => {
    if (token === undefined || exp === undefined) return { ok: false, reason: 'malformed' };
    return now < exp * 1000 ? { ok: true, token: structuredClone(token) } : { ok: false, reason: 'expired' };
  };

  return {
    signAccess: async (token) => issue(accessTokens, token),
    signRefresh: async (token) => issue(refreshTokens, token),
    verifyAccess: async (text, now) => recognise(accessTokens.get(text), accessTokens.get(text)?.claims.exp, now),
    verifyRefresh: async (text, now) => recognise(refreshTokens.get(text), refreshTokens.get(text)?.claims.exp, now),
  };
};

/** Accepts proofs of the form `key.number`. A proof that ends with `!` is untimely. */
export const plainDeviceProof: Proofs['verifyDevice'] = async (text) => {
  const [, key, number, untimely] = /^(\w+)\.(\d+)(!?)$/.exec(text) ?? [];
  if (key === undefined) return { ok: false, reason: 'invalid' };
  if (untimely === '!') return { ok: false, reason: 'untimely', key };
  return { ok: true, proof: { key, number: Number(number) } };
};

/** A hasher whose hashes contain the cost and the password. `comparisons` returns how many times it has compared. */
export const plainPasswordHasher = (cost = 10): PasswordHasher & { comparisons(): number } => {
  let salt = 0;
  let compared = 0;
  return {
    hash: async (password) => {
      if (!isHashable(password)) throw new RangeError('This password cannot be hashed.');
      salt += 1;
      return `${cost}.${salt}:${password}`;
    },
    verify: async (password, hash) => {
      compared += 1;
      return hash !== null && isHashable(password) && hash.slice(hash.indexOf(':') + 1) === password;
    },
    needsRehash: (hash) => Number.parseInt(hash, 10) < cost,
    comparisons: () => compared,
  };
};

/** Wraps a hasher, and records the passwords that it hashes and compares. */
export const notingPasswordHasher = (hasher: PasswordHasher) => {
  const [hashed, compared]: [string[], string[]] = [[], []];
  const hash: PasswordHasher['hash'] = (password) => {
    hashed.push(password);
    return hasher.hash(password);
  };
  const verify: PasswordHasher['verify'] = (password, ...more) => {
    compared.push(password);
    return hasher.verify(password, ...more);
  };
  return { hashed, compared, hasher: { ...hasher, hash, verify } };
};
