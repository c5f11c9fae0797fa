import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../src/infrastructure/main.ts', import.meta.url));

export type BenchedService = {
  readonly url: string;
  /** Milliseconds from the start of the process until it listened. */
  readonly startUp: number;
  readonly stop: () => Promise<void>;
};

/** Starts the service in a process of its own on a free port, without limits and with a quiet log. */
export const startService = async (dataDir: string): Promise<BenchedService> => {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN], {
    // Without the checkout's `.env`.
    cwd: import.meta.dirname,
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'info',
      RATE_LIMIT_GLOBAL: 'off',
      RATE_LIMIT_STRICT: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await portOf(child);
  return {
    url: `http://127.0.0.1:${port}`,
    startUp: performance.now() - startedAt,
    stop: async () => {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
};

const portOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('close', () => reject(new Error('the service did not start')));
    // It is a pipe, so there is one.
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const { address }: { readonly address?: { readonly port: number } } = JSON.parse(line);
      if (address !== undefined) resolve(address.port);
    });
  });
