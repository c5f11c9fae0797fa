/** One-time codes of authenticator apps: TOTP (RFC 6238) with SHA-1, 6 digits and steps of 30 seconds, which all apps know. */

/** Seconds. */
const STEP_SECONDS = 30;
export const CODE_DIGITS = 6;
export const CODE_PATTERN = /^\d{6}$/;

/** Steps of tolerance on either side of the present one, for clocks that differ (ASVS 6.5.5). */
const TOLERANCE = 1;

const stepAt = (now: number): number => Math.floor(now / (STEP_SECONDS * 1000));

/** The steps whose codes are accepted, the present one first. @param now epoch milliseconds. */
export const acceptedSteps = (now: number): readonly number[] => {
  const present = stepAt(now);
  const near = Array.from({ length: TOLERANCE }, (_, at) => [present - at - 1, present + at + 1]).flat();
  return [present, ...near];
};

/** RFC 4648 §6. */
export const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** 160 bits, as RFC 4226 §4 recommends. */
const SECRET_LENGTH = 32;

/** The alphabet of random tokens (RFC 4648 §5). */
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A text of 5 random bits a character. @param token random, in base64url, at least as long. */
export const randomText = (token: string, alphabet: string, length: number): string =>
  [...token.slice(0, length)].map((character) => alphabet[BASE64URL.indexOf(character) % alphabet.length]).join('');

/** A secret in Base32. @param token 256 random bits in base64url. */
export const secretFrom = (token: string): string => randomText(token, BASE32, SECRET_LENGTH);

/** The address that an app reads from a QR code (Google Authenticator, "Key URI Format"): a colon ends the name of the service. */
export const totpUri = (
  secret: string,
  { service, account }: { readonly service: string; readonly account: string },
) => {
  const issuer = encodeURIComponent(service.replaceAll(/\s*:+\s*/g, ' ').trim());
  const label = `${issuer}:${encodeURIComponent(account)}`;
  const parameters = `secret=${secret}&issuer=${issuer}`;
  return `otpauth://totp/${label}?${parameters}&algorithm=SHA1&digits=${CODE_DIGITS}&period=${STEP_SECONDS}`;
};
