import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyPair } from '../../../adapters/token-signer/keys.ts';
import { pairOf, shareKey } from '../../config/token-keys.ts';
import { KEY_FILES } from '../../keys/keys.ts';
import type { KeyFileFacts, PairFacts } from '../checks/keys.ts';
import type { Patient } from '../patient.ts';

type Read = KeyFileFacts & { readonly pair: KeyPair | null };

/** Reads the keys that the service made in DATA_DIR, and makes none. */
export const readKeyFiles = async (
  dataDir: string,
  kidsOf: Patient['kidsOf'],
): Promise<{ files: KeyFileFacts[]; shared: boolean }> => {
  const [access, refresh] = await Promise.all([
    readOne(dataDir, 'access', kidsOf),
    readOne(dataDir, 'refresh', kidsOf),
  ]);
  const shared = access.pair !== null && refresh.pair !== null && shareKey(access.pair, refresh.pair);
  return { files: [access, refresh], shared };
};

const readOne = async (dataDir: string, kind: PairFacts['kind'], kidsOf: Patient['kidsOf']): Promise<Read> => {
  const file = KEY_FILES[kind];
  const path = join(dataDir, file);
  const pem = await readFile(path, 'utf8').catch(unlessMissing);
  if (pem === null) return { kind, file, state: 'missing', kid: null, age: null, pair: null };
  const pair = pairOf(pem);
  if (pair === null) return { kind, file, state: 'unusable', kid: null, age: null, pair: null };
  const [kid = null] = await kidsOf(pair);
  const { mtimeMs } = await stat(path);
  return { kind, file, state: 'usable', kid, age: Math.max(0, Date.now() - mtimeMs), pair };
};

const unlessMissing = (error: unknown): null => {
  if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return null;
  throw error;
};
