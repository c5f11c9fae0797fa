import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bcrypt from 'bcrypt';
import { startService } from './service.ts';
import { throughput } from './throughput.ts';

const CONCURRENCY = 16;
/** Milliseconds of one measurement, and how often the two are measured in turn. */
const DURATION = 5000;
const ROUNDS = 3;
const PASSWORD = 'correct horse battery';

const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });

/** Posts JSON and expects a success. */
const post = (url: string, body: object): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response
        .resume()
        .once('end', () =>
          response.statusCode !== undefined && response.statusCode < 300
            ? resolve()
            : reject(new Error(`${url} answered ${response.statusCode}`)),
        );
    });
    sent.once('error', reject).end(JSON.stringify(body));
  });

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

const dataDir = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
try {
  const first = await startService(dataDir);
  console.log(`first start, empty DATA_DIR: ${(first.startUp / 1000).toFixed(2)} s`);
  await first.stop();
  const service = await startService(dataDir);
  console.log(`later start:                 ${(service.startUp / 1000).toFixed(2)} s`);

  try {
    await post(`${service.url}/auth/register`, { username: 'bench', email: 'bench@example.org', password: PASSWORD });
    const hash = await bcrypt.hash(PASSWORD, 10);
    const bare: number[] = [];
    const logins: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(await throughput(() => bcrypt.compare(PASSWORD, hash), CONCURRENCY, DURATION));
      const login = () => post(`${service.url}/auth/login`, { account: 'bench', password: PASSWORD });
      logins.push(await throughput(login, CONCURRENCY, DURATION));
    }
    console.log(`bare bcrypt.compare, cost 10, ${CONCURRENCY} at once: ${median(bare).toFixed(1)} /s`);
    console.log(`log-ins over HTTP, ${CONCURRENCY} at once:            ${median(logins).toFixed(1)} /s`);
    console.log(`ratio:                                    ${(median(logins) / median(bare)).toFixed(3)}`);
  } finally {
    await service.stop();
  }
} finally {
  agent.destroy();
  rmSync(dataDir, { recursive: true, force: true });
}
