import * as v from 'valibot';
import type { Proofs } from '../../application/ports/proofs.ts';
import { decodedStrictly, formProblem, isSignedBy, P256, publicKeyOf } from './es256.ts';

/** Characters. A registration has some 900. */
const MAX_PROOF_LENGTH = 4_096;

const Absent = v.optional(v.never());

const Header = v.object({
  typ: v.literal('dbsc+jwt'),
  alg: v.literal('ES256'),
  // A browser that sends a private member is broken, and its key is known.
  jwk: v.optional(v.object({ ...P256, d: Absent })),
  // No extension is implemented (RFC 7515 §4.1.11).
  crit: Absent,
});

/** Without `aud`, `sub` and `iat`, which browsers do not send. */
const Claims = v.object({ jti: v.string(), authorization: v.optional(v.string()) });

export const verifyBrowserProof: Proofs['verifyBrowser'] = async (text, known) => {
  if (formProblem(text, MAX_PROOF_LENGTH) !== null) return null;
  const [header, claims] = text.split('.').map(decodedStrictly);
  if (!v.is(Header, header) || !v.is(Claims, claims)) return null;
  if ((header.jwk === undefined) === (known === null)) return null;
  const [x = '', y = ''] = known?.split('.') ?? [header.jwk?.x, header.jwk?.y];
  const key = publicKeyOf({ x, y });
  if (key === null || !isSignedBy(text, key)) return null;
  return { key: `${x}.${y}`, challenge: claims.jti, authorization: claims.authorization ?? null };
};
