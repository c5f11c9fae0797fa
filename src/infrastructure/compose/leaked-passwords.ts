import type { Logger } from 'pino';
import { leakedPasswordsAt, leakedPasswordsOf } from '../../adapters/crypto/leaked-passwords.ts';
import { bounded } from '../../adapters/hooks/bounded.ts';
import type { ObserveHook } from '../../application/ports/hooks.ts';
import type { PasswordRules } from '../../domain/password.ts';
import type { Config } from '../config.ts';

/** What the server has, and what a file takes at most. */
const TIMEOUT = 2_000;

/**
 * The list of the configuration. What cannot be found out counts as not leaked: it is counted, and logged.
 * @throws Error when the file is none of them.
 */
export const openLeakedPasswords = async (
  { leakedPasswordsFile: file, leakedPasswordsUrl: url }: Pick<Config, 'leakedPasswordsFile' | 'leakedPasswordsUrl'>,
  logger: Logger,
  observe: ObserveHook = () => undefined,
): Promise<PasswordRules['isLeakedPassword']> => {
  if (file === null && url === null) return null;
  const hook = file === null ? leakedPasswordsAt(url ?? '') : await leakedPasswordsOf(file);
  const isRefusal = (isLeaked: boolean) => isLeaked;
  const asked = bounded({ name: 'leaked-passwords', timeout: TIMEOUT, hook, read: Boolean, isRefusal }, observe);
  return (password) =>
    asked(password).catch((err: unknown) => {
      logger.warn({ err }, 'a password was not looked up among leaked ones');
      return false;
    });
};
