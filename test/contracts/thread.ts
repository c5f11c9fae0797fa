import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { Call, Failure, Reply, ThreadData } from './in-thread.ts';

/** The other side of `inThread`: opens the adapter, and calls its methods. */
const { module, data }: ThreadData = workerData;
const { open } = await import(module);
const adapter = await open(data);

const failureOf = (error: unknown): Failure =>
  error instanceof AppError
    ? { code: error.code, message: error.message, reason: error.reason ?? '' }
    : { code: null, message: '', reason: error instanceof Error ? error.message : String(error) };

const reply = (message: Reply): void => parentPort?.postMessage(message);

parentPort?.on('message', ({ id, method, given }: Call) => {
  reply({ id, begins: true });
  const called: Promise<unknown> = (async () => adapter[method](...given))();
  called.then(
    (result) => reply({ id, result }),
    (error: unknown) => reply({ id, failure: failureOf(error) }),
  );
});
reply({ id: 0 });
