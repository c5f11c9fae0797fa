import { execFile } from 'node:child_process';
import { ROOT } from '../support/checkout/repository.ts';

type Run = { readonly status: number; readonly output: string };

/** Runs the simulation in a process of its own, which has another time and another chance. Each world takes a tenth of a day. */
export const simulate = (...given: string[]): Promise<Run> =>
  new Promise((resolve) => {
    const command = ['test/simulation/main.ts', '--days', '0.1', ...given];
    execFile(process.execPath, command, { cwd: ROOT, maxBuffer: 1e9 }, (error, output, errors) =>
      resolve({ status: Number(error !== null), output: output + errors }),
    );
  });
