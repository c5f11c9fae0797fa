import { Cluster, type Redis } from 'ioredis';
import { onResponseTimeout } from '../../adapters/resilience/response-timeout.ts';

/**
 * Rejects each command of the client that has no response after `timeout` milliseconds. The `commandTimeout` of ioredis is a plain timer: it
 * would reject commands whose response has arrived while this process was busy.
 */
export const limitResponseTime = (redis: Redis | Cluster, timeout: number): void => {
  if (redis instanceof Cluster) redis.on('+node', (node: Redis) => limitCommands(node, timeout));
  else limitCommands(redis, timeout);
};

const limitCommands = (redis: Redis, timeout: number): void => {
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const cancel = onResponseTimeout(timeout, () => {
      if (!command.isSettled) command.reject(new Error('Command timed out'));
    });
    command.promise.then(cancel, cancel);
    return send(command, stream);
  };
};
