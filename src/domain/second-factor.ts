import { BASE64URL, typedCode } from './text.ts';

/** An authenticator app of a user. Times are epoch milliseconds. */
export type Factor = FactorKey & {
  readonly secret: string;
  /** The time step (RFC 6238) of the last code that was used; -1 before the first. */
  readonly lastStep: number;
  readonly createdAt: number;
  /** `null` until the user has presented the first code. Before that, the app is no factor. */
  readonly confirmedAt: number | null;
};

export const AUTHENTICATOR_APPS_PER_USER = 5;

/** Milliseconds in which a user has to present the second factor after the first. */
export const PENDING_LOGIN_LIFETIME = 5 * 60_000;

export type FactorKey = { readonly id: string; readonly userId: string };

export const isConfirmed = ({ confirmedAt }: Pick<Factor, 'confirmedAt'>): boolean => confirmedAt !== null;

/** One-time codes of authenticator apps: TOTP (RFC 6238) with SHA-1, 6 digits and steps of 30 seconds, which common apps support. */

const STEP_SECONDS = 30;
export const CODE_DIGITS = 6;
export const CODE_PATTERN = /^\d{6}$/;

/** The steps whose codes are accepted: the present one, and one on either side, since clocks differ (RFC 6238 §5.2, §6). */
export const acceptedSteps = (now: number): readonly number[] => {
  const present = Math.floor(now / (STEP_SECONDS * 1000));
  return [present, present - 1, present + 1];
};

/** The alphabet of RFC 4648 §6. */
export const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** 160 bits, as RFC 4226 §4 recommends. */
const SECRET_LENGTH = 32;

/** A text with 5 random bits in each character. @param token at least `length` random characters of base64url. */
const randomText = (token: string, alphabet: string, length: number): string =>
  [...token.slice(0, length)].map((character) => alphabet[BASE64URL.indexOf(character) % alphabet.length]).join('');

export const secretFrom = (token: string): string => randomText(token, BASE32, SECRET_LENGTH);

/** The URI that an app reads from a QR code (Google Authenticator, "Key URI Format"). Colons of `service` are replaced, since one would end the name. */
export const totpUri = (secret: string, { service, account }: Readonly<Record<'service' | 'account', string>>) => {
  const issuer = encodeURIComponent(service.replaceAll(/\s*:+\s*/g, ' ').trim());
  const label = `${issuer}:${encodeURIComponent(account)}`;
  const parameters = `secret=${secret}&issuer=${issuer}`;
  return `otpauth://totp/${label}?${parameters}&algorithm=SHA1&digits=${CODE_DIGITS}&period=${STEP_SECONDS}`;
};

/** Recovery codes replace lost factors. Each is used once. Their alphabet has no I, L, O and U (Crockford's Base32). */
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const RECOVERY_CODES = 10;

/** The lengths of recovery codes: 24 characters have 120 bits and need no slow hash (ASVS 6.5.2). Codes of versions before 1.1 have 16, and are still valid. */
const [CODE_LENGTH, FORMER_LENGTH] = [24, 16];
const GROUPS = /.{4}(?=.)/g;

/** A code as it is shown, in groups of four characters. @param token 256 random bits in base64url. */
export const recoveryCodeFrom = (token: string) => randomText(token, CROCKFORD, CODE_LENGTH).replace(GROUPS, '$&-');

const MISREAD_LETTERS: Readonly<Record<string, string>> = { I: '1', L: '1', O: '0' };

/** The canonical form of a typed recovery code, which is hashed; `null` for a text that is no recovery code. */
export const canonicalRecoveryCode = (typed: string): string | null => {
  const code = typedCode(typed)
    .toUpperCase()
    .replace(/[ILO]/g, (character) => MISREAD_LETTERS[character] ?? character);
  const isCode =
    [CODE_LENGTH, FORMER_LENGTH].includes(code.length) && [...code].every((each) => CROCKFORD.includes(each));
  return isCode ? code : null;
};
