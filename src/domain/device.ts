import { utf8Length } from './text.ts';
import type { User } from './user.ts';

/** The browser and the network of a request. The list of sessions shows those that have used a session last (ADR 0005). */
export type Device = {
  /** The `User-Agent` header, shortened; `null` when there was none with a visible character. */
  readonly userAgent: string | null;
  /** The client's network in CIDR notation: a /24 of IPv4, a /48 of IPv6. `null` if it is not known. */
  readonly address: string | null;
};

export const UNKNOWN_DEVICE: Device = { userAgent: null, address: null };

/** Bytes of UTF-8. The client chooses the text, so it is limited. */
const USER_AGENT_MAX_BYTES = 200;
/** Control characters, format characters (which may reorder text), and lone surrogates, which cannot be stored. */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** A `User-Agent` header as it is stored; `null` when no visible character is left. */
export const shortUserAgent = (text: string): string | null => {
  const visible = firstBytes(text.replace(INVISIBLE_CHARACTERS, ''), USER_AGENT_MAX_BYTES).trim();
  return visible === '' ? null : visible;
};

/** The beginning of a text: as many whole characters as fit into `bytes` bytes of UTF-8. */
const firstBytes = (text: string, bytes: number): string => {
  let [kept, length] = ['', 0];
  for (const character of text) {
    length += utf8Length(character);
    if (length > bytes) break;
    kept += character;
  }
  return kept;
};

/** Versions of browsers and systems, which change with updates. */
const VERSION = /\d+(?:[._]\d+)*/g;

const withoutVersions = (userAgent: string | null): string | null => userAgent?.replace(VERSION, '') ?? null;

/** Whether two log-ins probably come from one device: the same network, and the same browser in any version. */
export const isSameDevice = (a: Device, b: Device): boolean =>
  a.address === b.address && withoutVersions(a.userAgent) === withoutVersions(b.userAgent);

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
  /** A safe integer, by which a used proof is recognized. Proofs of later seconds have greater numbers. */
  readonly number: number;
};

/** What a request proves of its device. */
export type Evidence = {
  /** Whether a session with a key needs a proof (`DeviceBinding`). */
  readonly required: boolean;
  readonly proof: DeviceProof | null;
  /** The key in the user's bound cookie (Device Bound Session Credentials), if the cookie has not expired. */
  readonly browserKey: string | null;
  /** The key that has signed the proof, even if the time of the proof is wrong. It serves only to choose among the sessions of a request. */
  readonly signer?: string | null;
};

/** The evidence with which a session is judged by its tokens alone. */
export const NO_PROOF_REQUIRED: Evidence = { required: false, proof: null, browserKey: null };

export const noEvidence = (binding: DeviceBinding): Evidence =>
  binding === 'enforce' ? { ...NO_PROOF_REQUIRED, required: true } : NO_PROOF_REQUIRED;

/** How a session is bound. `browser`: by a key of the browser, and maybe also by a key of a page. */
export type Binding = 'none' | 'device' | 'browser';

export const bindingOf = ({ deviceKey, browserKey }: Pick<DeviceKeys, 'deviceKey' | 'browserKey'>): Binding => {
  if (browserKey !== null) return 'browser';
  return deviceKey === null ? 'none' : 'device';
};

/** How many used proofs a session remembers: more than the browser client sends at once. */
export const PROOFS_KEPT = 32;

/** Whether a proof was certainly not used. Only the greatest numbers are remembered, so a lower number counts as used. */
const isUnused = ({ proofs }: DeviceKeys, number: number): boolean =>
  !proofs.includes(number) && (proofs.length < PROOFS_KEPT || number > Math.min(...proofs));

/** The keys after the use of a proof; `null` if the proof is of another key, or may have been used before. */
export const withProof = <Keys extends DeviceKeys>(keys: Keys, { key, number }: DeviceProof): Keys | null =>
  key === keys.deviceKey && isUnused(keys, number)
    ? { ...keys, proofs: [number, ...keys.proofs].toSorted((a, b) => b - a).slice(0, PROOFS_KEPT) }
    : null;

/** Whether a request proves the device of a session. `unbound`: the session needs no proof. */
export const deviceStatus = (keys: DeviceKeys, { required, proof, browserKey }: Evidence) => {
  if (!required || bindingOf(keys) === 'none') return 'unbound';
  if (browserKey !== null && browserKey === keys.browserKey) return 'proven';
  return proof !== null && withProof(keys, proof) !== null ? 'proven' : 'unproven';
};

/**
 * What shows best that a request is for this session: a signature by its `deviceKey`, the bound cookie of its browser, or only a refresh token.
 * Another host of the domain can add cookies to a request, but no signature.
 */
export const strongestMatch = (keys: DeviceKeys, { signer = null, ...evidence }: Evidence) => {
  if (evidence.required && signer !== null && signer === keys.deviceKey) return 'signature';
  return deviceStatus(keys, evidence) === 'proven' ? 'bound' : 'token';
};

/** Whether the device of a session is unproven without the proof of the request. */
export const needsProof = (keys: DeviceKeys, evidence: Evidence): boolean =>
  deviceStatus(keys, { ...evidence, proof: null }) === 'unproven';

export const withProofIfValid = <Keys extends DeviceKeys>(keys: Keys, { proof }: Evidence): Keys =>
  (proof && withProof(keys, proof)) ?? keys;

/** Milliseconds by which the clock of a device may differ from the service's. */
export const PROOF_TOLERANCE = 60_000;

/** A device on which log-ins of a user need no second factor, or no code for a new device. Times are epoch milliseconds. */
export type RememberedDevice = {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
} & Device;

/** A device is looked up by its id and its user together, so that no user finds the device of another user. */
export type RememberedDeviceKey = Pick<RememberedDevice, 'id' | 'userId'>;

export const DEVICE_LIFETIME = 30 * 86_400_000;

/** How many remembered devices a user may have. Beyond that, the oldest are forgotten. */
export const DEVICES_PER_USER = 50;

export const newRememberedDevice = (
  { id, userId }: RememberedDeviceKey,
  { userAgent, address }: Device,
  now: number,
): RememberedDevice => ({ id, userId, createdAt: now, expiresAt: now + DEVICE_LIFETIME, userAgent, address });

type FactorTimes = Pick<User, 'passwordChangedAt' | 'secondFactorAt'>;

/** Whether a remembered device has not expired, and neither the password nor the second factor is newer. */
export const isDeviceKnown = (
  { createdAt, expiresAt }: RememberedDevice,
  { passwordChangedAt, secondFactorAt }: FactorTimes,
  now: number,
): boolean => now < expiresAt && passwordChangedAt <= createdAt && (secondFactorAt ?? 0) <= createdAt;

/** Whether a device spares its user, who has an authenticator app, the second factor. */
export const isTrusted = (device: RememberedDevice, user: FactorTimes, now: number): boolean =>
  user.secondFactorAt !== null && isDeviceKnown(device, user, now);
