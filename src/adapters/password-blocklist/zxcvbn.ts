import type { PasswordBlocklist } from '../../application/ports/password-blocklist.ts';
import { PASSWORD_MIN_CODE_POINTS } from '../../domain/password.ts';

/**
 * The 49 000 most common passwords of zxcvbn, without those that are too short anyway. The package is imported on demand: it
 * takes about 50 ms and 10 MB, which are saved when the list is disabled.
 */
export const zxcvbnPasswordBlocklist = async (): Promise<PasswordBlocklist> => {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const common = new Set(
    dictionary['passwords-common']
      .filter((password) => password.length >= PASSWORD_MIN_CODE_POINTS)
      .map((password) => password.toLowerCase()),
  );
  return { isCommon: (password) => common.has(password.toLowerCase()) };
};
