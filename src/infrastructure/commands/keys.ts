import { parseArgs } from 'node:util';
import { type KeyPair, kidsOf } from '../../adapters/crypto/token-keys.ts';
import { KEY_VARIABLES } from '../config/keys.ts';
import type { Env } from '../config/variables.ts';
import { parseConfig } from '../config.ts';
import { newPageServer, newPair, privatePem, publicPem } from '../keys/keys.ts';
import { rotateKeys } from './keys-rotate.ts';
import { envLine, type Page, writePages } from './pages.ts';

const HELP = `npx tandem keys generate [--out DIR]   creates two new key pairs
npx tandem keys rotate [--out DIR]     creates successors of the key pairs in the environment, with instructions
npx tandem keys factors [--out DIR]    creates a key for the secrets of authenticator apps; if the environment has FACTOR_KEYS, with
                                       instructions to introduce it
npx tandem keys factors --re-encrypt   encrypts all of these secrets with the first key of FACTOR_KEYS
npx tandem keys page-server [--out DIR] creates the secret of a server that renders pages, and its entry of PAGE_SERVERS
npx tandem keys check                  checks the key pairs in the environment; prints no private key

With --out, the keys are written to files in a new directory that only you can read, and only the names of the files are printed.
`;

/** The commands that create keys. */
const CREATORS: Readonly<Record<string, (env: Env) => Promise<readonly Page[]>>> = {
  generate: async () => generateKeys(),
  rotate: rotateKeys,
  'page-server': async () => pageServerPages(),
  factors: async (env) => (await import('./keys-factors.ts')).makeFactorKey(env),
};

/**
 * The command `keys`.
 * @returns the text to print.
 * @throws Error that describes what is wrong with the arguments, the environment or the directory.
 */
export const manageKeys = async (args: readonly string[], env: Env): Promise<string> => {
  const { name, out, help, isReEncryption } = read(args);
  if (help) return HELP;
  if (name === 'check' && out === undefined) return checkKeys(env);
  if (name === 'factors' && isReEncryption && out === undefined)
    return (await import('./keys-factors.ts')).reEncrypt(env);
  const create = name !== undefined && Object.hasOwn(CREATORS, name) ? CREATORS[name] : undefined;
  if (create === undefined || isReEncryption) throw new Error(`Unknown command of keys.\n\n${HELP}`);
  const pages = await create(env);
  if (out === undefined) return pages.map(({ name, text }) => `# ${name}\n${text}`).join('\n');
  return writePages(out, pages);
};

const read = (args: readonly string[]) => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        out: { type: 'string' },
        're-encrypt': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    const [name, ...more] = positionals;
    return {
      name: more.length > 0 ? undefined : name,
      out: values.out,
      help: values.help,
      isReEncryption: values['re-encrypt'],
    };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : 'The arguments cannot be read.'}\n\n${HELP}`);
  }
};

/**
 * Describes the keys in the environment: the `kid` and the use of each.
 * @throws ConfigError when the service would not start
 */
const checkKeys = async (env: Env): Promise<string> => {
  const { keys } = parseConfig(env);
  if (keys === null)
    return 'The environment has no keys. Outside production, the service creates its own in DATA_DIR.\n';
  return `${await describePair('access', keys.access)}\n${await describePair('refresh', keys.refresh)}`;
};

const describePair = async (kind: string, pair: KeyPair): Promise<string> => {
  const kids = await kidsOf(pair);
  const lines = kids.map((kid, index) => `  ${kid}  ${index === 0 ? 'current: signs and verifies' : 'verifies'}\n`);
  return `Keys of ${kind} tokens:\n${lines.join('')}`;
};

/** The id and the secret of a page server, and what the service knows of them. */
const pageServerPages = (): Page[] => {
  const { id, secret, secretHash } = newPageServer();
  return [
    { name: 'page-server.env', text: `${envLine('PAGE_SERVER_ID', id)}\n${envLine('PAGE_SERVER_SECRET', secret)}\n` },
    {
      name: 'service.env',
      text: `# Add to entries that are there after a comma.\n${envLine('PAGE_SERVERS', `${id}:${secretHash}`)}\n`,
    },
  ];
};

/** Two new key pairs: each key as PEM, and all four as lines of an environment file. */
const generateKeys = (): Page[] => {
  const pairs = (['access', 'refresh'] as const).map((kind) => {
    const { privateKey, publicKeys } = newPair();
    return { kind, ...KEY_VARIABLES[kind], privateText: privatePem(privateKey), publicText: publicPem(publicKeys) };
  });
  const files = pairs.flatMap(({ kind, privateText, publicText }) => [
    { name: `${kind}-private.pem`, text: privateText },
    { name: `${kind}-public.pem`, text: publicText },
  ]);
  const lines = pairs.flatMap(({ privateKey, publicKeys, privateText, publicText }) => [
    envLine(privateKey, privateText),
    envLine(publicKeys, publicText),
  ]);
  return [...files, { name: 'keys.env', text: `${lines.join('\n')}\n` }];
};
