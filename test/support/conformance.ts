import { parseOptions } from '../../conformance/options.ts';
import { type Result, runChecks } from '../../conformance/run.ts';

export const ALLOWED_ORIGIN = 'https://app.example.com';

/** Runs the conformance suite as its program does. */
export const conformanceOf = (url: string, ...args: string[]): Promise<readonly Result[]> =>
  runChecks(parseOptions([url, ...args]), {
    onAccount: () => undefined,
    onResult: () => undefined,
    onWait: () => undefined,
  });
