/** Whether the refresh of a session with a key needs a proof of that key (ADR 0006). `observe` only counts what `enforce` would refuse. */
export type DeviceBinding = 'off' | 'observe' | 'enforce';

export type DeviceKeys = {
  /** The thumbprint (RFC 7638) of the key that a page or an app has. */
  readonly deviceKey: string | null;
  /** The public key of the browser itself (Device Bound Session Credentials): `x.y` of its JWK. */
  readonly browserKey: string | null;
  /** The numbers of the proofs that were used, the greatest first, at most `PROOFS_KEPT`. */
  readonly proofs: readonly number[];
};

export const NO_KEYS: DeviceKeys = { deviceKey: null, browserKey: null, proofs: [] };

export type DeviceProof = {
  readonly key: string;
  /** A safe integer, which identifies the proof among those of its key. Proofs of later seconds have greater numbers. */
  readonly number: number;
};

export type Evidence = {
  readonly required: boolean;
  readonly proof: DeviceProof | null;
  /** The key in a live bound cookie of the user. */
  readonly browserKey: string | null;
  /** The key that has signed the proof, even if its time is wrong. It only serves to choose among sessions. */
  readonly signer?: string | null;
};

/** For sessions that are judged by their tokens alone. */
export const NOT_REQUIRED: Evidence = { required: false, proof: null, browserKey: null };

export const noEvidence = (binding: DeviceBinding): Evidence =>
  binding === 'enforce' ? { ...NOT_REQUIRED, required: true } : NOT_REQUIRED;

/** How a session is bound. `browser`: by a key of the browser, and maybe also by one of a page. */
export type Binding = 'none' | 'device' | 'browser';

export const bindingOf = ({ deviceKey, browserKey }: Pick<DeviceKeys, 'deviceKey' | 'browserKey'>): Binding => {
  if (browserKey !== null) return 'browser';
  return deviceKey === null ? 'none' : 'device';
};

/** How many used proofs a session remembers: more than a browser sends at once. */
export const PROOFS_KEPT = 32;

/** Whether a proof was certainly not used. Only the greatest numbers are remembered, so a lower one counts as used. */
const isUnused = ({ proofs }: DeviceKeys, number: number): boolean =>
  !proofs.includes(number) && (proofs.length < PROOFS_KEPT || number > Math.min(...proofs));

/** The keys after the use of a proof; `null` if it is of another key, or may have been used before. */
export const withProof = <Keys extends DeviceKeys>(keys: Keys, { key, number }: DeviceProof): Keys | null =>
  key === keys.deviceKey && isUnused(keys, number)
    ? { ...keys, proofs: [number, ...keys.proofs].toSorted((a, b) => b - a).slice(0, PROOFS_KEPT) }
    : null;

/** Whether a request proves the device of a session. `unbound`: it need not. */
export const deviceStatus = (keys: DeviceKeys, { required, proof, browserKey }: Evidence) => {
  if (!required || bindingOf(keys) === 'none') return 'unbound';
  if (browserKey !== null && browserKey === keys.browserKey) return 'proven';
  return proof !== null && withProof(keys, proof) !== null ? 'proven' : 'unproven';
};

/**
 * What shows best that a request is for this session: a signature by its page's key, the bound cookie of its browser, or only a refresh token.
 * Another host of the domain can add cookies to a request, but no signature.
 */
export const strongestMatch = (keys: DeviceKeys, { signer = null, ...evidence }: Evidence) => {
  if (evidence.required && signer !== null && signer === keys.deviceKey) return 'signature';
  return deviceStatus(keys, evidence) === 'proven' ? 'bound' : 'token';
};

/** Whether a request would be refused without its proof. */
export const needsProof = (keys: DeviceKeys, evidence: Evidence): boolean =>
  deviceStatus(keys, { ...evidence, proof: null }) === 'unproven';

export const keysAfter = <Keys extends DeviceKeys>(keys: Keys, { proof }: Evidence): Keys =>
  (proof && withProof(keys, proof)) ?? keys;

/** Milliseconds by which the clock of a device may differ from the service's. */
export const PROOF_TOLERANCE = 60_000;
