import { AsyncLocalStorage } from 'node:async_hooks';

/** SPEC "Request processing", stage 4. */
export type RequestScope = {
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly version: string;
};

const scopes = new AsyncLocalStorage<RequestScope>();

/** The request that the calling code belongs to, or `undefined` outside of a request. */
export const currentRequest = (): RequestScope | undefined => scopes.getStore();

export const runInRequest = <T>(scope: RequestScope, work: () => T): T => scopes.run(scope, work);
