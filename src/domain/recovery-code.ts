import { randomText } from './totp.ts';
import { typedCode } from './typed-text.ts';

/** Codes that a user keeps for the day when the other factors are lost. Each is used once. */

/** Without I, L, O and U, which are misread (Crockford's Base32). */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** How many a user gets at once. */
export const RECOVERY_CODES = 10;

/** 80 bits. */
const LENGTH = 16;
const GROUPS = /.{4}(?=.)/g;

/** A code as it is shown: four groups of four characters. @param token 256 random bits in base64url. */
export const recoveryCodeFrom = (token: string): string => randomText(token, ALPHABET, LENGTH).replace(GROUPS, '$&-');

const MISREAD: Readonly<Record<string, string>> = { I: '1', L: '1', O: '0' };

/** A code as it is hashed, however it was typed; `null` for a text that is no code. */
export const canonicalRecoveryCode = (typed: string): string | null => {
  const code = typedCode(typed)
    .toUpperCase()
    .replace(/[ILO]/g, (character) => MISREAD[character] ?? character);
  return code.length === LENGTH && [...code].every((character) => ALPHABET.includes(character)) ? code : null;
};
