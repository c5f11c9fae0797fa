/** The binding of a session to its device: a refresh of a session with a key needs a proof of that key (ADR 0006). */

/** Whether refreshes of sessions with a key need a proof. `observe`: they do not, but what `enforce` would refuse is counted. */
export type DeviceBinding = 'off' | 'observe' | 'enforce';

export type DeviceKeys = {
  /** The thumbprint (RFC 7638) of the key that a page holds; `null` if there is none. */
  readonly deviceKey: string | null;
  /** The public key that the browser itself holds (Device Bound Session Credentials), `x.y` of its JWK; `null` if there is none. */
  readonly browserKey: string | null;
  /** The numbers of the proofs that were used, the greatest first, at most `PROOFS_KEPT`. */
  readonly proofs: readonly number[];
};

export const NO_KEYS: DeviceKeys = { deviceKey: null, browserKey: null, proofs: [] };

export type DeviceProof = {
  readonly key: string;
  /** Identifies the proof among those of its key. Proofs of a later second have greater numbers. A safe integer. */
  readonly number: number;
};

export type Evidence = {
  readonly required: boolean;
  readonly proof: DeviceProof | null;
  /** The key that a live bound cookie of the user names. */
  readonly browserKey: string | null;
  /** The key that has signed a proof for this request, also one that cannot be used any more, or not yet. Only to choose among sessions. */
  readonly signer?: string | null;
};

/** For sessions that are judged by their tokens alone. */
export const NOT_REQUIRED: Evidence = { required: false, proof: null, browserKey: null };

export const noEvidence = (binding: DeviceBinding): Evidence =>
  binding === 'enforce' ? { ...NOT_REQUIRED, required: true } : NOT_REQUIRED;

/** How a session is bound. `browser`: a browser holds its key, and maybe a page holds another. */
export type Binding = 'none' | 'device' | 'browser';

export const bindingOf = ({ deviceKey, browserKey }: Pick<DeviceKeys, 'deviceKey' | 'browserKey'>): Binding => {
  if (browserKey !== null) return 'browser';
  return deviceKey === null ? 'none' : 'device';
};

/** How many proofs of a session are remembered. More than a browser sends at once. */
export const PROOFS_KEPT = 32;

/**
 * Whether a proof was certainly not used. Only the greatest numbers are remembered, so a lower one counts as used. A device whose proofs
 * arrive in another order can have as many under way as are remembered.
 */
const isUnused = ({ proofs }: DeviceKeys, number: number): boolean =>
  !proofs.includes(number) && (proofs.length < PROOFS_KEPT || number > Math.min(...proofs));

/** The keys after a proof was used; `null` if it is of another key, or may have been used before. */
export const withProof = <Keys extends DeviceKeys>(keys: Keys, { key, number }: DeviceProof): Keys | null =>
  key === keys.deviceKey && isUnused(keys, number)
    ? { ...keys, proofs: [number, ...keys.proofs].toSorted((a, b) => b - a).slice(0, PROOFS_KEPT) }
    : null;

/** Whether a request proves the device of a session. `unbound`: it need not. */
export const deviceStatus = (
  keys: DeviceKeys,
  { required, proof, browserKey }: Evidence,
): 'unbound' | 'proven' | 'unproven' => {
  if (!required || bindingOf(keys) === 'none') return 'unbound';
  if (browserKey !== null && browserKey === keys.browserKey) return 'proven';
  return proof !== null && withProof(keys, proof) !== null ? 'proven' : 'unproven';
};

/**
 * How strongly a request points at a session: by a signature of its page's key, by the bound cookie of its browser, or only by a refresh
 * token. Another host of the domain can add cookies to a request, and no signature.
 */
export const pointsAt = (
  keys: DeviceKeys,
  { signer = null, ...evidence }: Evidence,
): 'signature' | 'bound' | 'token' => {
  if (evidence.required && signer !== null && signer === keys.deviceKey) return 'signature';
  return deviceStatus(keys, evidence) === 'proven' ? 'bound' : 'token';
};

/** Whether a request would be refused without the proof that it may have. */
export const needsProof = (keys: DeviceKeys, evidence: Evidence): boolean =>
  deviceStatus(keys, { ...evidence, proof: null }) === 'unproven';

export const keysAfter = <Keys extends DeviceKeys>(keys: Keys, { proof }: Evidence): Keys =>
  (proof && withProof(keys, proof)) ?? keys;

/** Milliseconds by which the clock of a device may differ from the service's. */
export const PROOF_TOLERANCE = 60_000;
