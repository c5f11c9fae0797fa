import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ROOT, readText } from '../support/checkout/repository.ts';

/** Faults that are planted in the service one at a time. Each of them has to break a rule within the seeds 20 to 52. */
export const MUTANTS = [...readText('test/simulation/mutants.txt').matchAll(/^(.*) :: (.*) :: (.*) :: ?(.*)$/gm)].map(
  ([, name = '', file = '', text = '', by = '']) => ({ name, file: `src/${file}`, text, by }),
);
type Mutant = (typeof MUTANTS)[number];

/** The file with the fault. @throws Error if the file does not have the text, or has it more than once */
export const mutated = ({ name, file, text, by }: Mutant, source = readText(file)): string => {
  const [before = '', after, ...others] = source.split(text);
  if (after === undefined || others.length > 0) throw new Error(`"${name}" needs this text once in ${file}: ${text}`);
  return before + by + after;
};

/** Plants a fault in the module that is loaded later. It has to be called before a module of the service is imported. */
export const plant = (mutant: Mutant): void => {
  const planted = pathToFileURL(ROOT + mutant.file).href;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      return url === planted ? { ...loaded, source: mutated(mutant, String(loaded.source)) } : loaded;
    },
  });
};
