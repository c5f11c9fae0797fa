import { once } from 'node:events';
import { realpathSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { SqlEntityManager } from '@mikro-orm/sql';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { systemReason } from '../../adapters/redaction/redact-error.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import { type Database, nativeClientOf } from '../database/database.ts';
import { assertHasDatabase, openEmbedded } from './tables.ts';

/** The Unix socket of a running service, for dumps. Only its user can enter the directory. */
const socketOf = (dataDir: string): string => join(realpathSync(dataDir), 'run', 'backup.sock');

/** PGlite reads all files in one turn of the event loop, so they are consistent. */
const dump = async (em: SqlEntityManager): Promise<Buffer> => {
  await em.execute('checkpoint');
  const pglite = await nativeClientOf<{ dumpDataDir(compression: 'none'): Promise<Blob> }>(em);
  return Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer());
};

/**
 * Offers dumps of an embedded database to the command `data backup` while this process uses the database. Without a socket, the service
 * runs, and logs that there are no backups.
 * @returns the database; its `close` removes the socket.
 */
export const withDumps = async (
  database: Database,
  dataDir: string,
  logger: Pick<Logger, 'info'>,
): Promise<Database> => {
  // Each dump is as large as the database.
  const oneAtATime = pLimit(1);
  const send = async (response: ServerResponse): Promise<void> => {
    response.end(await dump(database.em));
    await once(response, 'close');
    logger.info('The database was dumped for a backup');
  };
  const server = createServer((_request, response) => {
    oneAtATime(send, response).catch(() => response.destroy());
  });
  try {
    makePrivate(dataDir, 'run');
    // This process holds the lock of DATA_DIR, so an existing socket is stale.
    rmSync(socketOf(dataDir), { force: true });
    await once(server.listen(socketOf(dataDir)), 'listening');
  } catch (error) {
    logger.info(`No backups while the service runs: ${systemReason(error)}`);
    return database;
  }
  server.unref();
  return {
    ...database,
    close: async () => {
      server.close().closeAllConnections();
      await oneAtATime(() => undefined);
      await database.close();
    },
  };
};

/** Asks the service that uses the database of DATA_DIR for a dump, or opens the database if no process uses it. @throws CommandError */
export const takeDump = async (dataDir: string) => {
  assertHasDatabase(dataDir);
  const live = await requestDump(socketOf(dataDir));
  if (live !== null) return { database: live, live: true };
  const { em, close } = await openEmbedded(dataDir, { migrate: false });
  return { database: await dump(em).finally(close), live: false };
};

/** @returns `null` when nobody listens. */
const requestDump = async (socketPath: string): Promise<Buffer | null> => {
  try {
    const [response] = (await once(get({ socketPath }), 'response')) as [IncomingMessage];
    return await buffer(response);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'syscall') === 'connect') return null;
    throw new Error('The service ended while the backup was made.');
  }
};
