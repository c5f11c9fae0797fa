import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchFlood } from './flood.ts';
import { client, succeeded } from './http.ts';
import { benchLogIns } from './log-ins.ts';
import { startService } from './service.ts';

const ACCOUNT = 'bench';
const PASSWORD = 'correct horse battery';

const dataDir = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
try {
  const first = await startService(dataDir);
  console.log(`first start, empty DATA_DIR: ${(first.startUp / 1000).toFixed(2)} s`);
  await first.stop();
  const service = await startService(dataDir);
  console.log(`later start:                 ${(service.startUp / 1000).toFixed(2)} s`);
  const http = client(service.url);
  try {
    succeeded(await http.post('/auth/register', { username: ACCOUNT, email: 'bench@example.org', password: PASSWORD }));
    await benchLogIns(http, PASSWORD);
    await benchFlood(http, ACCOUNT, PASSWORD);
  } finally {
    http.close();
    await service.stop();
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
