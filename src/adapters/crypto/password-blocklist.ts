import { createRequire } from 'node:module';
import type { PasswordBlocklist } from '../../application/ports/password-blocklist.ts';
import { PASSWORD_MIN_CODE_POINTS } from '../../domain/password.ts';

const require = createRequire(import.meta.url);

/**
 * The most common passwords of zxcvbn, without those that are too short. The first call of `isCommon` loads them synchronously, which
 * takes about 35 ms and 11 MiB (ADR 0021).
 */
export const zxcvbnPasswordBlocklist = (): PasswordBlocklist => {
  let common: ReadonlySet<string> | undefined;
  return {
    isCommon: (password) => {
      common ??= loadPasswords();
      return common.has(password.toLowerCase());
    },
  };
};

const loadPasswords = (): ReadonlySet<string> => {
  const { dictionary }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common');
  const longEnough = dictionary['passwords-common'].filter((password) => password.length >= PASSWORD_MIN_CODE_POINTS);
  return new Set(longEnough.map((password) => password.toLowerCase()));
};
