import { factorSecrets } from '../../adapters/crypto/factor-secrets.ts';
import { reEncryptFactors } from '../../application/factors/re-encrypt-factors.ts';
import type { FactorSecrets } from '../../application/ports/secrets.ts';
import { MAX_FACTOR_KEYS } from '../config/account-variables.ts';
import type { Env } from '../config/variables.ts';
import { type Config, parseConfig } from '../config.ts';
import { newFactorKey } from '../keys/keys.ts';
import { envLine, type Page } from './pages.ts';
import { failureOf } from './users/answer.ts';
import { openAccounts } from './users/open-accounts.ts';

const page = (name: string, comment: readonly string[], keys: readonly string[]): Page => ({
  name,
  text: `${[...comment.map((line) => `# ${line}`), envLine('FACTOR_KEYS', keys.join(','))].join('\n')}\n`,
});

/**
 * Creates a key for the secrets of authenticator apps. If the environment has keys, it comes with instructions to introduce it in three
 * steps, in none of which an instance meets a secret that it cannot decrypt.
 * @throws ConfigError, or Error when there are too many keys
 */
export const makeFactorKey = async (env: Env): Promise<Page[]> => {
  const old = (parseConfig(env).factorKeys ?? []).map((key) => key.toString('base64url'));
  if (old.length === MAX_FACTOR_KEYS)
    throw new Error(`FACTOR_KEYS has ${old.length} keys, which is the limit. End the last rotation first.`);
  const fresh = newFactorKey();
  if (old.length === 0) return [page('factors.env', FIRST, [fresh])];
  return [
    page('step-1.env', ANNOUNCE, [...old, fresh]),
    page('step-2.env', SWITCH, [fresh, ...old]),
    page('step-3.env', RETIRE, [fresh]),
  ];
};

const FIRST = [
  'The key that encrypts the secrets of authenticator apps. Set this variable on every instance, and keep the key in another place than the',
  'database: without it, the authenticator apps of all users are lost.',
  'Secrets that were encrypted with DATA_DIR/keys/factors.key need that key as well: add it to the end, after a comma.',
];
const ANNOUNCE = [
  'Step 1 of 3: announce. The old key still encrypts; what the new key encrypts can be decrypted as well.',
  'Set this variable on every instance. Continue when all instances run with it: an instance without the new key refuses the codes of',
  'authenticator apps that are added at others. With one instance, you can start with step 2.',
];
const SWITCH = [
  'Step 2 of 3: switch. The new key encrypts; what the old ones encrypted can still be decrypted.',
  'Set this variable on every instance, in any order. When the last instance runs with it, run `npx tandem keys factors --re-encrypt`',
  'with this variable: it encrypts with the new key what the old ones encrypted, beside the service on PostgreSQL.',
];
const RETIRE = [
  'Step 3 of 3: retire. Set this variable when `npx tandem keys factors --re-encrypt` has succeeded after step 2 was complete.',
  'A backup of the database from before needs the old keys: keep them, in another place, as long as you keep such a backup.',
];

/**
 * Encrypts the secrets of all factors with the first key of FACTOR_KEYS, also while instances run. It can be repeated.
 * @returns the text to print
 * @throws Error when it failed, or some could not be decrypted: then the others are encrypted, and these are unchanged
 */
export const reEncrypt = async (env: Env): Promise<string> => {
  const config = parseConfig(env);
  if (config.factorKeys === null) throw new Error('There are no FACTOR_KEYS in the environment.');
  const { changed, current, undecryptable } = await encryptAgain(config, factorSecrets(config.factorKeys));
  const text = `Secrets of authenticator apps: ${changed} are encrypted with the first key now, ${current} were before, ${undecryptable} cannot be decrypted.\n`;
  if (undecryptable === 0) return text;
  throw new Error(
    `${text}Those are unchanged. Keep all keys: add the one that is missing to the end of FACTOR_KEYS, and repeat this.`,
  );
};

const encryptAgain = async (config: Config, secrets: FactorSecrets) => {
  try {
    const { factors, close } = await openAccounts(config);
    return await reEncryptFactors({ factors, factorSecrets: secrets })().finally(close);
  } catch (error) {
    throw new Error(failureOf(error).message);
  }
};
