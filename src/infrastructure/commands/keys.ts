import { parseArgs } from 'node:util';
import { checkKeys } from './keys-check.ts';
import { generateKeys } from './keys-generate.ts';
import { rotateKeys } from './keys-rotate.ts';
import { type Page, writePages } from './pages.ts';

type Env = Readonly<Record<string, string | undefined>>;

const HELP = `npm run keys -- generate [--out DIR]   creates two new key pairs
npm run keys -- rotate [--out DIR]     creates successors of the key pairs in the environment, with instructions
npm run keys -- check                  checks the key pairs in the environment; prints no private key

With --out, the keys are written to files in a new directory that only you can read, and only the names of the files are printed.
`;

/** The commands that create keys. */
const CREATORS: Readonly<Record<string, (env: Env) => Promise<readonly Page[]>>> = {
  generate: async () => generateKeys(),
  rotate: rotateKeys,
};

/**
 * The command `keys`.
 * @returns the text to print.
 * @throws Error that describes what is wrong with the arguments, the environment or the directory.
 */
export const manageKeys = async (args: readonly string[], env: Env): Promise<string> => {
  const { name, out, help } = read(args);
  if (help) return HELP;
  if (name === 'check' && out === undefined) return checkKeys(env);
  const create = name !== undefined && Object.hasOwn(CREATORS, name) ? CREATORS[name] : undefined;
  if (create === undefined) throw new Error(`Unknown command of keys.\n\n${HELP}`);
  const pages = await create(env);
  if (out === undefined) return pages.map(({ name, text }) => `# ${name}\n${text}`).join('\n');
  return writePages(out, pages);
};

const read = (args: readonly string[]) => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { out: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
      allowPositionals: true,
    });
    const [name, ...more] = positionals;
    return { name: more.length > 0 ? undefined : name, out: values.out, help: values.help };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : 'The arguments cannot be read.'}\n\n${HELP}`);
  }
};
