import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type KeyPair, kidsOf } from '../../../adapters/token-signer/keys.ts';
import { pairOf, shareKey } from '../../config/token-keys.ts';
import { KEY_FILES } from '../../keys/keys.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './finding.ts';

type Kind = keyof typeof KEY_FILES;

/** Examines the keys of the environment, or those in DATA_DIR. Creates none. */
export const keys = async ({ config, problems }: SetUp): Promise<Findings> => {
  if (problems.some((text) => /^JWT_(?:ACCESS|REFRESH)_(?:PRIVATE|PUBLIC)_KEY: /.test(text)))
    return note('keys.skipped', 'Not examined: a key variable is invalid.', 'See the group Configuration.');
  if (config.keys === null) return ofDataDir(config.dataDir);
  return Promise.all([ofPair('access', config.keys.access), ofPair('refresh', config.keys.refresh)]);
};

const ofPair = async (kind: Kind, pair: KeyPair): Promise<Finding> => {
  const [current, ...others] = await kidsOf(pair);
  const accepted = others.length === 0 ? '' : ` Also accepted: ${others.join(', ')}.`;
  return ok(`keys.${kind}`, `The pair of ${kind} tokens matches. They are signed with the key ${current}.${accepted}`);
};

const ofDataDir = async (dataDir: string): Promise<Finding[]> => {
  const [access, refresh] = await Promise.all([read(dataDir, KEY_FILES.access), read(dataDir, KEY_FILES.refresh)]);
  const findings = await Promise.all([ofFile('access', access), ofFile('refresh', refresh)]);
  if (!access || !refresh || !shareKey(access, refresh)) return findings;
  const seen = 'Both kinds of tokens have the same key in DATA_DIR: the service does not start.';
  const advice = `Remove ${KEY_FILES.refresh}; the next start makes a new one, and everybody has to log in again.`;
  return [...findings, problem('keys.shared', seen, advice)];
};

/** @returns `undefined` without the file, `null` when it has no private key on P-256. */
const read = async (dataDir: string, file: string): Promise<KeyPair | null | undefined> => {
  try {
    return pairOf(await readFile(join(dataDir, file), 'utf8'));
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return undefined;
    throw error;
  }
};

const ofFile = async (kind: Kind, pair: KeyPair | null | undefined): Promise<Finding> => {
  if (pair) return ofPair(kind, pair);
  const [id, file] = [`keys.${kind}`, KEY_FILES[kind]];
  return pair === undefined
    ? note(id, `There is no ${file} in DATA_DIR yet.`, 'Nothing: outside production, the next start makes it.')
    : problem(
        id,
        `${file} in DATA_DIR is not a private key on P-256: the service does not start.`,
        'Restore it from a backup, or remove it: the next start makes a new one, and its tokens are no longer accepted.',
      );
};
