/** What a browser has signed with the key of its session. */
export type BrowserProof = {
  /** The public key: `x.y` of its JWK. */
  readonly key: string;
  /** `jti`: a copy of what it was given. */
  readonly challenge: string;
  /** The same; `null` in a renewal. */
  readonly authorization: string | null;
};

/**
 * Verifies what browsers sign for Device Bound Session Credentials (W3C, §9.9 "DBSC Proof JWT Syntax"), with ES256. Never rejects.
 * - returns the key, the challenge and the authorization of a registration
 * - returns the challenge of a renewal
 * - accepts further claims and parameters
 * - rejects a registration without a key, and a renewal that brings one
 * - rejects a renewal that is signed with another key
 * - rejects a proof that was changed in any part
 * - rejects a proof that is signed with another algorithm, or not at all
 * - rejects a key that is private, of another curve, or no point of the curve
 * - rejects a proof of another type, with missing or duplicate members, or with parameters that are critical
 * - rejects a text that is not a proof
 */
export interface BrowserProofs {
  /** @param key the known key, for a renewal; `null` for a registration, whose proof brings its key. */
  verify(text: string, key: string | null): Promise<BrowserProof | null>;
}
