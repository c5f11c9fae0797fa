import { KEY_SET_MAX_AGE } from '../../adapters/http/routes/key-set.ts';
import type { KeyPair } from '../../adapters/token-signer/jose.ts';
import { jwks } from '../../adapters/token-signer/jwks.ts';
import { KEY_VARIABLES } from '../config/token-keys.ts';
import { type Config, parseConfig } from '../config.ts';
import { newPair, privatePem, publicPem } from '../keys/new-keys.ts';
import { envLine, type Page } from './pages.ts';

const KINDS = ['access', 'refresh'] as const;
type Kind = (typeof KINDS)[number];
type Rotation = {
  readonly kind: Kind;
  readonly old: KeyPair;
  readonly fresh: KeyPair;
  /** ISO 8601: from when on nothing that the old keys have signed by now is valid. */
  readonly over: string;
};

/**
 * Successors of the pairs in the environment, and the three steps in which they come into use without a log-out.
 * @throws ConfigError, or Error when the environment holds no keys
 */
export const rotateKeys = async (env: Readonly<Record<string, string | undefined>>): Promise<Page[]> => {
  const config = parseConfig(env);
  if (config.keys === null)
    throw new Error('There are no keys in the environment to rotate; generate makes the first.');
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
    const over = new Date(now.getTime() + lifetime).toISOString();
    return { kind, old: keys[kind], fresh: newPair(), over };
  });

const ANNOUNCE = [
  'Step 1 of 3: announce. The new public keys come second: the old keys sign on, and those of the new ones are accepted.',
  'Set this on every instance, and go on when the last one runs with it. An instance that does not know a new key yet would',
  'refuse what another one signs with it. Third parties keep the key set of access tokens for as long as they are told:',
  `wait another ${KEY_SET_MAX_AGE / 60} minutes for them. One instance alone, without third parties, may begin with step 2.`,
];
const SWITCH = [
  'Step 2 of 3: switch. The new keys sign, and what the old ones have signed is still accepted.',
  'Set this on every instance; for some time some sign with the old keys and some with the new ones, and all accept both.',
  'Write down when the last instance has it: from then on nothing is signed by the old keys.',
];
const RETIRE = [
  'Step 3 of 3: retire. The old public keys go, each when the last token it has signed is over: a lifetime after step 2 was',
  'complete, by the lifetimes of this environment. The moments below are the earliest: they hold when step 2 is complete now,',
  'and are later by as much as it is later. A key that goes earlier logs out whoever holds a token of it.',
];

const page = (comment: readonly string[], lines: readonly string[]): string =>
  `${[...comment.map((line) => `# ${line}`), ...lines].join('\n')}\n`;

const kids = async (rotations: readonly Rotation[]): Promise<string[]> => {
  const told = rotations.map(async ({ kind, old, fresh }) => {
    const [before, after] = await Promise.all([old, fresh].map(async (pair) => (await jwks(pair)).keys[0]?.kid));
    return `The key of ${kind} tokens: ${before}, to be followed by ${after}.`;
  });
  return Promise.all(told);
};

const publicLine = (kind: Kind, ...pairs: readonly KeyPair[]): string =>
  envLine(KEY_VARIABLES[kind].publicKeys, publicPem(pairs.flatMap(({ publicKeys }) => publicKeys)));

const announced = ({ kind, old, fresh }: Rotation): string => publicLine(kind, old, fresh);

const switched = ({ kind, old, fresh }: Rotation): string[] => [
  envLine(KEY_VARIABLES[kind].privateKey, privatePem(fresh.privateKey)),
  publicLine(kind, fresh, old),
];

const retired = ({ kind, fresh, over }: Rotation): string[] => [`# Not before ${over}:`, publicLine(kind, fresh)];
