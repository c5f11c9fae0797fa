import { setImmediate as turn } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Cancellation } from '../../../application/use-case.ts';
import { httpFailure } from '../errors/exceptions.ts';

/**
 * Aborted when the client has hung up: none of the response has been sent then, nor will be. A busy process reads a request long after it
 * was sent, and the end of the connection only after that. So this waits until what has arrived is read: a turn of the event loop begins in the first
 * pause, and has ended after the second.
 */
export const clientOf = async ({ req }: Context): Promise<Cancellation> => {
  await turn();
  await turn();
  return {
    throwIfAborted() {
      // Node's server ends its side when the client has ended the other.
      if (!req.socket.writable) throw httpFailure(400, { reason: 'the client has hung up', level: 'info' });
    },
  };
};
