import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { serve } from '../../../src/infrastructure/serve.ts';

// The program of `runInMemory` starts services over storages in memory. The interval keeps the process alive.
for (let left = Number(process.env.SERVICES ?? 1); left > 0; left -= 1)
  await serve(parseConfig(process.env), { storage: memoryStorage() });
setInterval(() => undefined, 60_000);
