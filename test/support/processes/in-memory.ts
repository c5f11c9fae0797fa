import { parseConfig } from '../../../src/infrastructure/config.ts';
import { serve } from '../../../src/infrastructure/serve.ts';
import { memoryStores } from '../memory/stores.ts';

// The program of `runInMemory`: the service over a storage in memory.
const stop = await serve(parseConfig(process.env), { storage: memoryStores() });
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop(signal));
