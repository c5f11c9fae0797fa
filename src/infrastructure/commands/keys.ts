import { parseArgs } from 'node:util';
import { checkKeys } from './keys-check.ts';
import { generateKeys } from './keys-generate.ts';
import { rotateKeys } from './keys-rotate.ts';
import { type Page, writePages } from './pages.ts';

type Env = Readonly<Record<string, string | undefined>>;

const HELP = `npm run keys -- generate [--out DIR]   makes two new pairs of keys
npm run keys -- rotate [--out DIR]     makes successors of the pairs in the environment, and says what to set and when
npm run keys -- check                  judges the pairs in the environment; tells no private key

With --out nothing is printed but names: the keys go into files of a new directory, which only their owner can read.
`;

/** What makes keys to be written down. */
const MAKERS: Readonly<Record<string, (env: Env) => Promise<readonly Page[]>>> = {
  generate: async () => generateKeys(),
  rotate: rotateKeys,
};

/**
 * The command `keys`.
 * @returns what to print.
 * @throws Error that says what is wrong: with the arguments, the environment or the directory.
 */
export const manageKeys = async (args: readonly string[], env: Env): Promise<string> => {
  const { name, out, help } = read(args);
  if (help) return HELP;
  if (name === 'check' && out === undefined) return checkKeys(env);
  const make = name !== undefined && Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined;
  if (make === undefined) throw new Error(`There is no such command of keys.\n\n${HELP}`);
  const pages = await make(env);
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
