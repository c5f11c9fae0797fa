import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { lockHolder } from '../data-dir/data-dir-lock.ts';
import { openDatabase } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { CopyEnd, CopyStart, type OnlineCopy, onlineCopy } from './online-copy.ts';
import { socketAddress } from './socket-address.ts';

/** Milliseconds for a reply. To begin can take as long as it takes to write all buffers. */
const REPLY_TIMEOUT = 60_000;

/** What a backup is copied from. */
export type CopySource = OnlineCopy & {
  /** Whether a running service has the database. */
  readonly live: boolean;
  /** Is aborted, with the error, when the service ends: the copy would be of no use. */
  readonly lost: AbortSignal;
  /** To be called when the WAL is copied, too. @throws Error when it may have been removed before. */
  finish(): Promise<void>;
  close(): Promise<void>;
};

/**
 * Asks the service that uses the database of DATA_DIR, or opens the database if no process does.
 * @throws Refusal
 */
export const openSource = async (dataDir: string): Promise<CopySource> => {
  if (!existsSync(join(dataDir, 'database', 'PG_VERSION')))
    throw new Refusal('no-database', `DATA_DIR (${dataDir}) has no embedded database.`);
  const service = await connectToService(dataDir);
  if (service !== null) return ofService(service);
  const holder = lockHolder(dataDir);
  if (holder !== null) throw inUse(dataDir, holder);
  const { em, close } = await openDatabase({ kind: 'embedded', dataDir }, { migrate: false });
  return { ...onlineCopy(em), live: false, lost: new AbortController().signal, finish: async () => undefined, close };
};

const inUse = (dataDir: string, holder: string): Refusal =>
  new Refusal(
    'in-use',
    `Process ${holder} uses DATA_DIR (${dataDir}) and takes no backups: it starts or stops now, is another command, or an older version. ` +
      'Try again, or stop it.',
  );

/** A connection to the service; `null` when nobody listens. */
const connectToService = async (dataDir: string): Promise<Socket | null> => {
  const address = addressOf(dataDir);
  if (address === null) return null;
  const socket = connect(address.path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(String(Reflect.get(Object(error), 'code')))) return null;
    throw error;
  } finally {
    address.release();
  }
};

const addressOf = (dataDir: string) => {
  try {
    return socketAddress(dataDir);
  } catch {
    return null;
  }
};

const Refused = v.object({ refused: v.string(), reason: v.optional(v.string()) });

const ofService = (socket: Socket): CopySource => {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  socket.on('error', () => undefined);
  const losing = new AbortController();
  const lost = new Error('The service ended while the backup was made.');
  const abort = () => losing.abort(lost);
  socket.once('close', abort);
  const reply = async <Schema extends v.GenericSchema>(schema: Schema): Promise<v.InferOutput<Schema>> => {
    const timeout = new AbortController();
    const answer = await Promise.race([
      lines.next().catch(() => null),
      pause(REPLY_TIMEOUT, 'late' as const, { signal: timeout.signal, ref: true }),
    ]).finally(() => timeout.abort());
    if (answer === 'late') throw new Error('The service does not answer.');
    if (answer === null || answer.done === true) throw lost;
    const message: unknown = JSON.parse(answer.value);
    if (v.is(Refused, message)) throw refusalOf(message);
    return v.parse(schema, message);
  };
  const next = <Schema extends v.GenericSchema>(schema: Schema) => {
    socket.write('\n');
    return reply(schema);
  };
  return {
    live: true,
    lost: losing.signal,
    begin: () => reply(CopyStart),
    end: () => next(CopyEnd),
    finish: async () => {
      // After its last reply, the service closes the connection.
      socket.off('close', abort);
      await next(v.object({ finished: v.literal(true) }));
    },
    close: async () => void socket.destroy(),
  };
};

const refusalOf = ({ refused, reason = '' }: v.InferOutput<typeof Refused>): Error =>
  refused === 'busy'
    ? new Refusal('busy', 'Another backup of this database is being made.')
    : new Error(`The service could not begin the backup: ${reason}`);
