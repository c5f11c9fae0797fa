import { once } from 'node:events';
import { lstatSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import { reasonOf } from '../../adapters/redaction/redact-error.ts';
import { systemReason } from '../../adapters/redaction/system-reason.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import type { Database } from '../database/database.ts';
import { type OnlineCopy, onlineCopy } from './online-copy.ts';
import { SOCKET_DIRECTORY, type SocketAddress, socketAddress } from './socket-address.ts';

/** One makes a backup; the others are told to wait. */
const MAX_CONNECTIONS = 8;

type Options = {
  readonly dataDir: string;
  /** Runs one thing at a time: a checkpoint could remove WAL that a backup needs. */
  readonly turns: LimitFunction;
  readonly logger: Pick<Logger, 'info'>;
};

/**
 * Lets the command `data backup` copy an embedded database while this process uses it. The command copies the files itself: this
 * process only begins and ends the copy. The service runs without this where no socket can be made.
 * @returns the database; its `close` ends a backup that is being made, and removes the socket.
 */
export const withBackups = async (database: Database, options: Options): Promise<Database> => {
  try {
    const stop = await serveBackups(onlineCopy(database.em), options);
    return { ...database, close: () => stop().finally(database.close) };
  } catch (error) {
    options.logger.info(`No backups while the service runs: ${systemReason(error)}`);
    return database;
  }
};

const serveBackups = async (copy: OnlineCopy, { dataDir, turns, logger }: Options): Promise<() => Promise<void>> => {
  makePrivate(dataDir, SOCKET_DIRECTORY);
  assertOwn(join(dataDir, SOCKET_DIRECTORY));
  const address = socketAddress(dataDir);
  if (address === null) throw new Error('the path of DATA_DIR is too long for a socket');
  const sockets = new Set<Socket>();
  let backup: Promise<void> | null = null;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    if (backup !== null) return void socket.end(line({ refused: 'busy' }));
    backup = turns(() => conduct(socket, copy, (text) => logger.info(text))).finally(() => {
      backup = null;
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, address);
  return async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await backup;
    address.release();
  };
};

/** In a DATA_DIR that others can write to, it could be a link, or the directory of another user. */
const assertOwn = (directory: string): void => {
  const stats = lstatSync(directory);
  if (!stats.isDirectory() || (process.geteuid !== undefined && stats.uid !== process.geteuid()))
    throw new Error(`${directory} is not a directory of this user`);
};

/** The caller holds the lock of DATA_DIR, so a socket that is there belongs to a process that was killed. */
const listen = async (server: Server, address: SocketAddress): Promise<void> => {
  try {
    const found = lstatSync(address.path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isSocket()) throw new Error(`${address.path} is not a socket`);
    rmSync(address.path, { force: true });
    server.listen(address.path);
    await once(server, 'listening');
    // It keeps no process running.
    server.unref();
  } catch (error) {
    address.release();
    throw error;
  }
};

const line = (reply: object): string => `${JSON.stringify(reply)}\n`;

/** Begins at once. After each reply, whatever the client sends asks for the next step. The backup ends with the connection. */
const conduct = async (socket: Socket, copy: OnlineCopy, log: (text: string) => void): Promise<void> => {
  const input = socket.iterator({ destroyOnReturn: false });
  const goesOn = () =>
    input.next().then(
      ({ done }) => done !== true,
      () => false,
    );
  let ending: Promise<object> | undefined;
  try {
    socket.write(line(await copy.begin()));
    log('A backup of the database is being made');
    if (!(await goesOn())) return log('The backup of the database was given up');
    ending = copy.end();
    socket.write(line(await ending));
    // Until now, this process has removed no WAL.
    if (await goesOn()) socket.write(line({ finished: true }));
    log('The backup of the database has ended');
  } catch (error) {
    socket.write(line({ refused: 'failed', reason: reasonOf(error) }));
  } finally {
    if (ending === undefined) await copy.end().catch(() => undefined);
    socket.end();
  }
};
