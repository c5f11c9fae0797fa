import { stripTypeScriptTypes } from 'node:module';
import { ROOT, readText } from './repository.ts';

/** The blocks of code in a language below a heading of a page, up to the next heading. */
export const codeBelow = (page: string, heading: string, language: string): string[] => {
  const [, below = ''] = readText(page).split(new RegExp(`^#+ ${heading}\n`, 'm'));
  const [section = ''] = below.split(/^#+ /m);
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
};

/**
 * Runs code of the documentation in this process.
 * @param scope by name, the values that the code uses without declaring them, and modules that replace the packages which it imports
 * @param names of the values that the code declares, and that are returned
 */
export const runCode = async (code: string, scope: Readonly<Record<string, unknown>>, ...names: readonly string[]) => {
  const load = (name: string) =>
    scope[name] ?? import(name.replace(/^tandem-client\/(\w+)$/, `${ROOT}client/src/$1.ts`));
  const body = stripTypeScriptTypes(code)
    .replaceAll(/^import (?:\* as )?(\{.*\}|\w+) from '(.+)';$/gm, `const $1 = await load('$2');`)
    .replaceAll(/^export /gm, '');
  const given = Object.entries(scope).filter(([name]) => !/\W/.test(name));
  const run = new AsyncFunction('load', ...given.map(([name]) => name), `{ ${body}\nreturn { ${names} }; }`);
  return run(load, ...given.map(([, value]) => value));
};

const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
