import { join } from 'node:path';
import { type KeyPair, kidsOf } from '../../../adapters/crypto/token-keys.ts';
import { shareKey } from '../../config/keys.ts';
import { KEY_FILES, KEY_FORMATS, type KeyFile, type KeyFormat, readIfAny } from '../../keys.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './examine.ts';

/** Examines the keys of the environment, or those in DATA_DIR. Creates none. */
export const keys = async ({ config, problems }: SetUp): Promise<Findings> => {
  if (problems.some((text) => /^JWT_(?:ACCESS|REFRESH)_(?:PRIVATE|PUBLIC)_KEY: |^FACTOR_KEYS: /.test(text)))
    return note('keys.skipped', 'Not examined: a key variable is invalid.', 'See the group Configuration.');
  const { keys: pairs, dataDir } = config;
  const ofTokens =
    pairs === null
      ? await ofDataDir(dataDir)
      : await Promise.all([ofPair('access', pairs.access), ofPair('refresh', pairs.refresh)]);
  return [...ofTokens, await ofFactors(config)];
};

const ofFactors = ({ factorKeys, environment, dataDir }: SetUp['config']): Finding | Promise<Finding> => {
  if (factorKeys !== null)
    return ok(
      'keys.factors',
      `The secrets of authenticator apps are encrypted with the first key of ${factorKeys.length}.`,
    );
  if (environment === 'production')
    return note(
      'keys.factors',
      'FACTOR_KEYS is unset: no authenticator apps.',
      'Set it to have them: `npx tandem keys factors` makes a key.',
    );
  return ofFile('factors', dataDir, KEY_FORMATS.factors, () =>
    ok(
      'keys.factors',
      `The secrets of authenticator apps are encrypted with the key ${KEY_FILES.factors} in DATA_DIR.`,
    ),
  );
};

const ofPair = async (kind: KeyFile, pair: KeyPair): Promise<Finding> => {
  const [current, ...others] = await kidsOf(pair);
  const accepted = others.length === 0 ? '' : ` Also accepted: ${others.join(', ')}.`;
  return ok(`keys.${kind}`, `The pair of ${kind} tokens matches. They are signed with the key ${current}.${accepted}`);
};

const ofDataDir = async (dataDir: string): Promise<Finding[]> => {
  const pairs: KeyPair[] = [];
  const findings = await Promise.all(
    (['access', 'refresh'] as const).map((kind) =>
      ofFile(kind, dataDir, KEY_FORMATS[kind], (pair) => {
        pairs.push(pair);
        return ofPair(kind, pair);
      }),
    ),
  );
  const [one, other] = pairs;
  if (!one || !other || !shareKey(one, other)) return findings;
  const seen = 'Both kinds of tokens have the same key in DATA_DIR: the service does not start.';
  const advice = `Remove ${KEY_FILES.refresh}; the next start makes a new one, and everybody has to log in again.`;
  return [...findings, problem('keys.shared', seen, advice)];
};

const ofFile = async <Key>(
  kind: KeyFile,
  dataDir: string,
  { parse, is, advice }: KeyFormat<Key>,
  whenFit: (key: Key) => Finding | Promise<Finding>,
): Promise<Finding> => {
  const [id, file] = [`keys.${kind}`, KEY_FILES[kind]];
  const text = await readIfAny(join(dataDir, file));
  if (text === null)
    return note(id, `There is no ${file} in DATA_DIR yet.`, 'Nothing: outside production, the next start makes it.');
  const key = parse(text);
  if (key !== null) return whenFit(key);
  return problem(id, `${file} in DATA_DIR is not ${is}: the service does not start.`, advice);
};
