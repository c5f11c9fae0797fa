import bcrypt from 'bcrypt';
import type { Options } from '../options.ts';
import type { Samples } from '../report/samples.ts';
import { PASSWORD } from '../systems/system.ts';
import type { Spans } from './spans.ts';

/** A row of its own beside the systems: what hashing alone allows for. */
export const BCRYPT = { name: 'bcrypt', title: 'bare bcrypt', workloads: ['register', 'log-in'] as const };

const COST = 10;

/** How often a second `work` is done by so many at once, until the last of them is done. */
const throughput = async (work: () => Promise<unknown>, atOnce: number, duration: number): Promise<number> => {
  const startedAt = performance.now();
  let done = 0;
  const worker = async () => {
    while (performance.now() < startedAt + duration) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (done * 1_000) / (performance.now() - startedAt);
};

/** `bcrypt.hash` beside the registrations, `bcrypt.compare` beside the log-ins, in this process. */
export const measureBareBcrypt = async ({ wants }: Options, spans: Spans, samples: Samples): Promise<void> => {
  const { name } = BCRYPT;
  if (wants(name, 'register')) {
    samples.add(name, 'register', await throughput(() => bcrypt.hash(PASSWORD, COST), 16, spans.register.duration));
  }
  if (wants(name, 'log-in')) {
    const hash = await bcrypt.hash(PASSWORD, COST);
    const compare = () => bcrypt.compare(PASSWORD, hash);
    samples.add(name, 'logIn16', await throughput(compare, 16, spans.logIn.duration));
    samples.add(name, 'logIn64', await throughput(compare, 64, spans.logIn.duration));
  }
};
