import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { ErrorCode } from '../../src/domain/errors/catalog.ts';

/** What the thread is started with: a module that exports `open`, and what `open` is given to return the adapter. */
export type ThreadData = { readonly module: string; readonly data: unknown };
export type Call = { readonly id: number; readonly method: string; readonly given: readonly unknown[] };
export type Failure = { readonly code: ErrorCode | null; readonly message: string; readonly reason: string };
/** Each call is answered twice: when it begins, and when it ends. */
export type Reply = {
  readonly id: number;
  readonly begins?: true;
  readonly result?: unknown;
  readonly failure?: Failure;
};

const toError = ({ code, message, reason }: Failure): Error =>
  code === null ? new Error(reason) : new AppError(code, { message, reason });

/**
 * Runs an adapter in a thread of its own, as another process would. Its methods are the port's; calls are carried out in their
 * order. An error that is no AppError arrives as an Error.
 * @param module exports `open`, which is called with `data` (a structured clone) and returns the adapter.
 */
export const inThread = async <Port extends object>(
  module: URL,
  data: unknown,
): Promise<{
  readonly port: Port;
  /** Resolves when every call so far has begun. */
  readonly begun: () => Promise<void>;
  readonly close: () => Promise<void>;
}> => {
  const workerData: ThreadData = { module: module.href, data };
  // In the packed service it is JavaScript, as this module is.
  const worker = new Worker(join(import.meta.dirname, `thread${extname(import.meta.filename)}`), { workerData });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const beginning = new Map<number, () => void>();
  let lastBegun = Promise.resolve();
  let calls = 0;
  const send = (method: string, given: readonly unknown[]): Promise<unknown> => {
    calls += 1;
    const reply = Promise.withResolvers<unknown>();
    waiting.set(calls, reply);
    const { promise, resolve } = Promise.withResolvers<void>();
    beginning.set(calls, resolve);
    lastBegun = promise;
    worker.postMessage({ id: calls, method, given } satisfies Call);
    return reply.promise;
  };
  const opened = Promise.withResolvers<unknown>();
  waiting.set(0, opened);
  worker.on('message', ({ id, begins, result, failure }: Reply) => {
    beginning.get(id)?.();
    beginning.delete(id);
    if (begins) return;
    const reply = waiting.get(id);
    waiting.delete(id);
    if (failure === undefined) reply?.resolve(result);
    else reply?.reject(toError(failure));
  });
  worker.on('error', (error) => {
    for (const reply of waiting.values()) reply.reject(error);
  });
  await opened.promise;
  const port = new Proxy({} as Port, {
    // An object with a method `then` would be taken for a promise.
    get: (_none, method) =>
      typeof method === 'symbol' || method === 'then' ? undefined : (...given: unknown[]) => send(method, given),
  });
  return { port, begun: () => lastBegun, close: async () => void (await worker.terminate()) };
};
