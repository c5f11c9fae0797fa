import { createRequire } from 'node:module';
import { PASSWORD_MIN_CODE_POINTS } from '../../domain/password.ts';

const require = createRequire(import.meta.url);

let common: ReadonlySet<string> | undefined;

/**
 * Whether zxcvbn lists a password among the most common ones, in any letter case. The first call loads the list synchronously, which takes
 * about 35 ms and 11 MiB (ADR 0021).
 */
export const isCommonPassword = (password: string): boolean => {
  common ??= loadPasswords();
  return common.has(password.toLowerCase());
};

const loadPasswords = (): ReadonlySet<string> => {
  const { dictionary }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common');
  const longEnough = dictionary['passwords-common'].filter((password) => password.length >= PASSWORD_MIN_CODE_POINTS);
  return new Set(longEnough.map((password) => password.toLowerCase()));
};
