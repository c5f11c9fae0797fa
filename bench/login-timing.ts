import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, client, succeeded } from './http.ts';
import { startService } from './service.ts';
import { percentile, rankSumZ } from './statistics.ts';

/** Tries of each kind; no account is tried so often that it would have to wait. */
const TRIES = 200;
const ACCOUNTS = 4;
const WARM_UP = 10;

const known = (number: number): string => `known.${number % ACCOUNTS}`;
const unknown = (number: number): string => `unknown.${number % ACCOUNTS}`;

/** Milliseconds until a wrong password is refused. */
const refusal = async ({ post }: Client, account: string): Promise<number> => {
  const startedAt = performance.now();
  const { status } = await post('/auth/login', { account, password: 'not the password' });
  const duration = performance.now() - startedAt;
  if (status !== 401) throw new Error(`log-in answered ${status}`);
  return duration;
};

const report = (what: string, durations: readonly number[]): void => {
  const figures = [50, 90, 99].map((percent) => `p${percent} ${percentile(durations, percent).toFixed(2)} ms`);
  console.log(`${what} ${figures.join(', ')} (${durations.length} tries)`);
};

const dataDir = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
const service = await startService(dataDir);
const http = client(service.url);
try {
  for (let number = 0; number < ACCOUNTS; number += 1) {
    const email = `${known(number)}@example.org`;
    succeeded(await http.post('/auth/register', { username: known(number), email, password: 'correct horse battery' }));
  }
  for (let number = 0; number < WARM_UP; number += 1) await refusal(http, `warm.up.${number}`);
  const ofKnown: number[] = [];
  const ofUnknown: number[] = [];
  // Which of the two comes first takes turns, so that nothing that comes and goes meets the one alone.
  for (let number = 0; number < TRIES; number += 1) {
    const pair = [
      async () => void ofKnown.push(await refusal(http, known(number))),
      async () => void ofUnknown.push(await refusal(http, unknown(number))),
    ];
    for (const measure of number % 2 === 0 ? pair : pair.toReversed()) await measure();
  }
  report('known account, wrong password:', ofKnown);
  report('unknown account:              ', ofUnknown);
  console.log(
    `Mann–Whitney U: z = ${rankSumZ(ofKnown, ofUnknown).toFixed(2)} (within ±1.96: no difference to be seen)`,
  );
} finally {
  http.close();
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
