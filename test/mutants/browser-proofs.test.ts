import { createPublicKey, verify } from 'node:crypto';
import { nodeCryptoBrowserProofs } from '../../src/adapters/crypto/browser-proofs.ts';
import type { BrowserProof, BrowserProofs } from '../../src/application/ports/browser-proofs.ts';
import { describeBrowserProofs } from '../contracts/browser-proofs.contract.ts';
import { decoded, type Json, partsOf } from '../support/forgeries/forge.ts';
import { describeMutants } from './harness/describe-mutants.ts';

const correct = nodeCryptoBrowserProofs();

type Verify = BrowserProofs['verify'];

/** Asks the correct adapter first. @param further what the mutant accepts besides. */
const alsoAccepts = (further: (parts: Parts, key: string | null) => BrowserProof | null) => (): BrowserProofs => ({
  verify: async (text, key) => (await correct.verify(text, key)) ?? attempt(() => further(parsed(text), key)),
});

/** @param wrong what the mutant returns or rejects instead. */
const instead = (wrong: (proof: BrowserProof) => BrowserProof | null) => (): BrowserProofs => ({
  verify: async (...given) => {
    const proof = await correct.verify(...given);
    return proof && wrong(proof);
  },
});

type Parts = { readonly text: string; readonly header: Json; readonly claims: Json };

const parsed = (text: string): Parts => {
  const [header, claims] = partsOf(text);
  return { text, header: decoded(header), claims: decoded(claims) };
};

const attempt = <Result>(work: () => Result): Result | null => {
  try {
    return work();
  } catch {
    return null;
  }
};

const proofOf = ({ header, claims }: Parts, known: string | null): BrowserProof => {
  const jwk = header.jwk as Json | undefined;
  return {
    key: known ?? `${jwk?.x}.${jwk?.y}`,
    challenge: String(claims.jti),
    authorization: claims.authorization === undefined ? null : String(claims.authorization),
  };
};

/** Whether the signature is that of the key in the header, or of the known one. */
const isSigned = ({ text, header }: Parts, known: string | null, hash = 'sha256'): boolean => {
  const [x, y] = known?.split('.') ?? [];
  const jwk = known === null ? (header.jwk as Json) : { kty: 'EC', crv: 'P-256', x, y };
  const end = text.lastIndexOf('.');
  const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
  return verify(hash, Buffer.from(text.slice(0, end)), key, Buffer.from(text.slice(end + 1), 'base64url'));
};

const signedIf = (isAccepted: (parts: Parts, known: string | null) => boolean) =>
  alsoAccepts((parts, known) => (isAccepted(parts, known) && isSigned(parts, known) ? proofOf(parts, known) : null));

const isProof = ({ header: { typ, alg } }: Parts): boolean => typ === 'dbsc+jwt' && alg === 'ES256';
const jwkOf = ({ header }: Parts): Json => (header.jwk ?? {}) as Json;

const strictly = (isRefused: (parts: Parts) => boolean) => (): BrowserProofs => ({
  verify: (async (text, key) => {
    const isOne = attempt(() => isRefused(parsed(text))) ?? true;
    return isOne ? null : correct.verify(text, key);
  }) as Verify,
});

const REGISTRATION = 'returns the key, the challenge and the authorization of a registration';
const KEYS = 'rejects a key that is private, of another curve, or no point of the curve';
const MEMBERS =
  'rejects a proof of another type, with missing or duplicate members, or with parameters that are critical';
const PLACE = 'rejects a registration without a key, and a renewal that brings one';

describeBrowserProofs('the correct proofs', nodeCryptoBrowserProofs);

describeMutants((make: () => BrowserProofs, suite) => describeBrowserProofs('a mutant', make, suite), {
  'forgets the authorization': {
    make: instead((proof) => ({ ...proof, authorization: null })),
    caughtBy: REGISTRATION,
  },
  'names half of the key': {
    make: instead((proof) => ({ ...proof, key: proof.key.split('.')[0] ?? '' })),
    caughtBy: REGISTRATION,
  },
  'verifies registrations alone': {
    make: instead((proof) => (proof.authorization === null ? null : proof)),
    caughtBy: 'returns the challenge of a renewal',
  },
  'requires that there is no other claim': {
    make: strictly(({ claims }) => Object.keys(claims).some((name) => !['jti', 'authorization'].includes(name))),
    caughtBy: 'accepts further claims and parameters',
  },
  'trusts the key that a renewal brings': {
    make: signedIf((parts, known) => isProof(parts) && known !== null && jwkOf(parts).x !== undefined),
    caughtBy: PLACE,
  },
  'accepts a renewal by the key in it': {
    make: alsoAccepts((parts, known) =>
      known !== null && parts.header.jwk !== undefined && isSigned(parts, null) ? proofOf(parts, known) : null,
    ),
    caughtBy: 'rejects a renewal that is signed with another key',
  },
  'does not look at the signature': {
    make: alsoAccepts((parts, known) => (isProof(parts) && known !== null ? proofOf(parts, known) : null)),
    caughtBy: 'rejects a proof that was changed in any part',
  },
  'accepts another name of the algorithm': {
    make: signedIf(({ header: { typ, alg } }) => typ === 'dbsc+jwt' && alg === 'RS256'),
    caughtBy: 'rejects a proof that is signed with another algorithm, or not at all',
  },
  'accepts what says that it is not signed': {
    make: alsoAccepts((parts, known) => (parts.header.alg === 'none' ? proofOf(parts, known) : null)),
    caughtBy: 'rejects a proof that is signed with another algorithm, or not at all',
  },
  'accepts a private key': {
    make: signedIf((parts, known) => isProof(parts) && known === null && jwkOf(parts).d !== undefined),
    caughtBy: KEYS,
  },
  'accepts another curve': {
    make: signedIf((parts, known) => known === null && jwkOf(parts).crv === 'P-384'),
    caughtBy: KEYS,
  },
  'accepts another type': {
    make: signedIf((parts, known) => known === null && parts.header.typ !== 'dbsc+jwt'),
    caughtBy: MEMBERS,
  },
  'loses duplicate members': {
    make: signedIf(
      (parts, known) =>
        isProof(parts) && known === null && typeof parts.claims.jti === 'string' && parts.header.crit === undefined,
    ),
    caughtBy: MEMBERS,
  },
  'ignores critical parameters': {
    make: signedIf((parts, known) => known === null && parts.header.crit !== undefined),
    caughtBy: MEMBERS,
  },
  'reads a text of any length': {
    make: signedIf((parts) => isProof(parts) && parts.text.length > 4_096),
    caughtBy: 'rejects a text that is not a proof',
  },
});
