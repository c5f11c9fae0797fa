import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL } from '../machine/cores.ts';
import { startServer } from '../parts/server.ts';
import { median } from '../report/statistics.ts';
import { figure, type Section, table } from '../report/table.ts';
import { TANDEM } from '../systems/systems.ts';

/** Milliseconds from the start to the first answer, over a file of SQLite in this directory. */
const start = async (dataDir: string): Promise<number> => {
  const server = await startServer(
    TANDEM.program,
    { NODE_ENV: 'development', DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
    ALL,
  );
  await server.stop();
  return server.firstAnswer;
};

/** `npm start` on a fresh checkout, and every later one. */
export const measureEmbeddedStart = async (rounds: number): Promise<Section> => {
  const first: number[] = [];
  const later: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
    try {
      first.push(await start(dataDir));
      later.push(await start(dataDir));
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  const row = (what: string, durations: readonly number[]) => [what, figure(median(durations) / 1_000, 2)];
  return {
    title: 'Tandem: start with a file of SQLite',
    text: table(['', 'first answer, s'], [row('with an empty DATA_DIR, which it fills', first), row('later', later)]),
  };
};
