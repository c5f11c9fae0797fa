import { join } from 'node:path';
import { type KeyPair, kidsOf } from '../../../adapters/crypto/token-keys.ts';
import { pairOf, shareKey } from '../../config/keys.ts';
import { FACTOR_KEY_FILE, factorKeyOf, KEY_FILES, readIfAny } from '../../keys.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './examine.ts';

type Kind = keyof typeof KEY_FILES;

/** Examines the keys of the environment, or those in DATA_DIR. Creates none. */
export const keys = async ({ config, problems }: SetUp): Promise<Findings> => {
  if (problems.some((text) => /^JWT_(?:ACCESS|REFRESH)_(?:PRIVATE|PUBLIC)_KEY: |^FACTOR_KEYS: /.test(text)))
    return note('keys.skipped', 'Not examined: a key variable is invalid.', 'See the group Configuration.');
  const ofTokens =
    config.keys === null
      ? await ofDataDir(config.dataDir)
      : await Promise.all([ofPair('access', config.keys.access), ofPair('refresh', config.keys.refresh)]);
  return [...ofTokens, await ofFactors(config)];
};

const ofFactors = async ({ factorKeys, environment, dataDir }: SetUp['config']): Promise<Finding> => {
  const id = 'keys.factors';
  if (factorKeys !== null)
    return ok(id, `The secrets of authenticator apps are encrypted with the first key of ${factorKeys.length}.`);
  if (environment === 'production')
    return note(
      id,
      'FACTOR_KEYS is unset: no authenticator apps.',
      'Set it to have them: `npx tandem keys factors` makes a key.',
    );
  const text = await readIfAny(join(dataDir, FACTOR_KEY_FILE));
  if (text === null) return missing(id, FACTOR_KEY_FILE);
  if (factorKeyOf(text) !== null)
    return ok(id, `The secrets of authenticator apps are encrypted with the key ${FACTOR_KEY_FILE} in DATA_DIR.`);
  return problem(
    id,
    `${FACTOR_KEY_FILE} in DATA_DIR is not a key of 32 bytes in base64url: the service does not start.`,
    'Restore it from a backup. If you remove it, the next start makes a new one, and the authenticator apps of all users are lost.',
  );
};

const ofPair = async (kind: Kind, pair: KeyPair): Promise<Finding> => {
  const [current, ...others] = await kidsOf(pair);
  const accepted = others.length === 0 ? '' : ` Also accepted: ${others.join(', ')}.`;
  return ok(`keys.${kind}`, `The pair of ${kind} tokens matches. They are signed with the key ${current}.${accepted}`);
};

const ofDataDir = async (dataDir: string): Promise<Finding[]> => {
  const [access, refresh] = await Promise.all([
    readPair(dataDir, KEY_FILES.access),
    readPair(dataDir, KEY_FILES.refresh),
  ]);
  const findings = await Promise.all([ofFile('access', access), ofFile('refresh', refresh)]);
  if (!access || !refresh || !shareKey(access, refresh)) return findings;
  const seen = 'Both kinds of tokens have the same key in DATA_DIR: the service does not start.';
  const advice = `Remove ${KEY_FILES.refresh}; the next start makes a new one, and everybody has to log in again.`;
  return [...findings, problem('keys.shared', seen, advice)];
};

/** @returns `undefined` without the file, `null` when it has no private key on P-256. */
const readPair = async (dataDir: string, file: string): Promise<KeyPair | null | undefined> => {
  const text = await readIfAny(join(dataDir, file));
  return text === null ? undefined : pairOf(text);
};

const missing = (id: string, file: string): Finding =>
  note(id, `There is no ${file} in DATA_DIR yet.`, 'Nothing: outside production, the next start makes it.');

const ofFile = async (kind: Kind, pair: KeyPair | null | undefined): Promise<Finding> => {
  if (pair) return ofPair(kind, pair);
  const [id, file] = [`keys.${kind}`, KEY_FILES[kind]];
  return pair === undefined
    ? missing(id, file)
    : problem(
        id,
        `${file} in DATA_DIR is not a private key on P-256: the service does not start.`,
        'Restore it from a backup, or remove it: the next start makes a new one, and its tokens are no longer accepted.',
      );
};
