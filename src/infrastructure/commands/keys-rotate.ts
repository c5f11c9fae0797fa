import { type KeyPair, kidsOf } from '../../adapters/crypto/token-keys.ts';
import { KEY_SET_MAX_AGE } from '../../adapters/http/routes/service/key-set.ts';
import { KEY_VARIABLES } from '../config/keys.ts';
import { type Config, parseConfig } from '../config.ts';
import { newPair, privatePem, publicPem } from '../keys/keys.ts';
import { envLine, type Page } from './pages.ts';

const KINDS = ['access', 'refresh'] as const;
type Kind = (typeof KINDS)[number];
type Rotation = {
  readonly kind: Kind;
  readonly old: KeyPair;
  readonly fresh: KeyPair;
  /** ISO 8601: when every token that the old keys signed until now has expired. */
  readonly expiredAt: string;
};

/**
 * Creates successors of the key pairs in the environment, and instructions to introduce them in three steps, without logging anybody out.
 * @throws ConfigError, or Error when the environment has no keys
 */
export const rotateKeys = async (env: Readonly<Record<string, string | undefined>>): Promise<Page[]> => {
  const config = parseConfig(env);
  if (config.keys === null)
    throw new Error('There are no keys in the environment to rotate. Create the first ones with generate.');
  const rotations = rotationsOf(config, config.keys, new Date());
  return [
    { name: 'step-1.env', text: page([...(await kids(rotations)), ...ANNOUNCE], rotations.map(announced)) },
    { name: 'step-2.env', text: page(SWITCH, rotations.flatMap(switched)) },
    { name: 'step-3.env', text: page(RETIRE, rotations.flatMap(retired)) },
  ];
};

const rotationsOf = (
  { accessLifetime, refreshLifetime }: Config,
  keys: Readonly<Record<Kind, KeyPair>>,
  now: Date,
): Rotation[] =>
  KINDS.map((kind) => {
    const lifetime = kind === 'access' ? accessLifetime : refreshLifetime;
    const expiredAt = new Date(now.getTime() + lifetime).toISOString();
    return { kind, old: keys[kind], fresh: newPair(), expiredAt };
  });

const ANNOUNCE = [
  'Step 1 of 3: announce. The old keys still sign; tokens of the new keys are accepted as well.',
  'Set these variables on every instance. Continue when all instances run with them: an instance without the new keys rejects',
  `tokens that others sign with them. Other services cache the key set of access tokens: wait another ${KEY_SET_MAX_AGE / 60} minutes for them.`,
  'With one instance and no other service that verifies tokens, you can start with step 2.',
];
const SWITCH = [
  'Step 2 of 3: switch. The new keys sign; tokens of the old keys are still accepted.',
  'Set these variables on every instance, in any order: all instances accept the tokens of both keys.',
  'Note the time when the last instance runs with them: from then on, no token is signed with the old keys.',
];
const RETIRE = [
  'Step 3 of 3: retire. Remove each old public key when its last token has expired: one token lifetime after step 2 was complete.',
  'The times below assume that step 2 is complete now; add the time that it took. To remove a key earlier logs out the users that',
  'hold a token signed with it.',
];

const page = (comment: readonly string[], lines: readonly string[]): string =>
  `${[...comment.map((line) => `# ${line}`), ...lines].join('\n')}\n`;

const kids = async (rotations: readonly Rotation[]): Promise<string[]> => {
  const lines = rotations.map(async ({ kind, old, fresh }) => {
    const [before, after] = await Promise.all([old, fresh].map(async (pair) => (await kidsOf(pair))[0]));
    return `The key of ${kind} tokens: ${before}, its successor: ${after}.`;
  });
  return Promise.all(lines);
};

const publicLine = (kind: Kind, ...pairs: readonly KeyPair[]): string =>
  envLine(KEY_VARIABLES[kind].publicKeys, publicPem(pairs.flatMap(({ publicKeys }) => publicKeys)));

const announced = ({ kind, old, fresh }: Rotation): string => publicLine(kind, old, fresh);

const switched = ({ kind, old, fresh }: Rotation): string[] => [
  envLine(KEY_VARIABLES[kind].privateKey, privatePem(fresh.privateKey)),
  publicLine(kind, fresh, old),
];

const retired = ({ kind, fresh, expiredAt }: Rotation): string[] => [
  `# Not before ${expiredAt}:`,
  publicLine(kind, fresh),
];
