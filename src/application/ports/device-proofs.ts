import type { DeviceProof } from '../../domain/device-binding.ts';

/** The request that a proof was made for. */
export type ProofTarget = {
  /** `htm`: the method. */
  readonly method: string;
  /** The addresses of the route: `htu` has to be one of them, without regard to its scheme. */
  readonly urls: readonly string[];
};

export type ProofOutcome =
  | { readonly ok: true; readonly proof: DeviceProof }
  | { readonly ok: false; readonly reason: 'invalid' }
  /** Right but for its time. `key`: the thumbprint of the key that has signed it. */
  | { readonly ok: false; readonly reason: 'untimely'; readonly key: string };

/**
 * Verifies proofs of a device's key: RFC 9449 §4.2, with ES256 and without `ath` and `nonce`. Never rejects.
 * - returns the thumbprint of the key, also of a proof of another time, and the same number for the same proof
 * - gives other proofs of a key other numbers, and proofs of a later second greater ones
 * - rejects a proof for another method, host or path
 * - accepts a proof of up to a minute before or after its clock, and calls others untimely
 * - calls a proof untimely only if all else is right
 * - rejects a proof that was changed in any part
 * - rejects a proof that is signed with another key or algorithm, or not at all
 * - rejects a key that is private, of another curve, or no point of the curve
 * - rejects a header or claims with unknown, missing or duplicate members
 * - rejects a text that is not a proof
 */
export interface DeviceProofs {
  /** @param now epoch milliseconds. */
  verify(text: string, target: ProofTarget, now: number): Promise<ProofOutcome>;
}
