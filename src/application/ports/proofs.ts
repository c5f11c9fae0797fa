import type { DeviceProof } from '../../domain/device.ts';
import type { Operator } from '../../domain/operator.ts';

export type ProofTarget = {
  /** `htm`: the method. */
  readonly method: string;
  /** The addresses of the route: `htu` has to be one of them, without regard to its scheme. */
  readonly urls: readonly string[];
  /** The access token of the request, whose hash has to be in `ath`. Without one, the proof must not have `ath`. */
  readonly accessToken?: string;
};

export type ProofOutcome =
  | { readonly ok: true; readonly proof: DeviceProof }
  | { readonly ok: false; readonly reason: 'invalid' }
  /** The proof is valid except for its time. `key`: the thumbprint of the key that has signed it. */
  | { readonly ok: false; readonly reason: 'untimely'; readonly key: string };

export type BrowserProof = {
  /** The public key: `x.y` of its JWK. */
  readonly key: string;
  /** `jti`: the challenge as the browser has signed it. Only `Secrets.unsign` shows whether the service has made it. */
  readonly challenge: string;
  /** The authorization of a registration, which `Secrets.unsign` has to check as well; `null` if there is none. */
  readonly authorization: string | null;
};

/** The statement of the former system that one of its sessions is this user's. */
type Assertion = {
  /** `jti`: the assertion may be used only once. */
  readonly id: string;
  readonly userId: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
};

/** Never rejects. @returns the assertion, or why it is invalid. @param now epoch milliseconds. */
export type VerifyAssertion = (text: string, now: number) => Promise<Assertion | { readonly problem: string }>;

/** `problem` is also sent to the client, and contains nothing of the assertion. */
export type OperatorRefusal = { readonly ok: false; readonly problem: string };

/** Admits the program that has signed an assertion, once. @param now epoch milliseconds. @throws AppError DB_QUERY_FAILED */
export type AdmitOperator = (
  assertion: string,
  now: number,
) => Promise<{ readonly ok: true; readonly operator: Operator } | OperatorRefusal>;

/** Verifies proofs (ES256) by the keys of devices and browsers. Never rejects. */
export type Proofs = {
  /** Verifies a proof by a page or an app (RFC 9449 §4.2, without `nonce`). Its number is greater than those of earlier seconds. */
  verifyDevice(text: string, target: ProofTarget, now: number): Promise<ProofOutcome>;
  /**
   * Verifies a proof by a browser: Device Bound Session Credentials (W3C), §9.9.
   * @param key the known key, for a renewal; `null` for a registration, whose proof contains the key.
   */
  verifyBrowser(text: string, key: string | null): Promise<BrowserProof | null>;
};
