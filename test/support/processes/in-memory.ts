import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { serve } from '../../../src/infrastructure/serve.ts';

// The program of `runInMemory`: the service over a storage in memory.
await serve(parseConfig(process.env), { storage: memoryStorage() });
