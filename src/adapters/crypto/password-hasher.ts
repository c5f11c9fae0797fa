import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import bcrypt from 'bcrypt';
import type { Piscina } from 'piscina';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import { type HashScheme, isHashable, PASSWORD_MAX_BYTES } from '../../domain/password.ts';
import { boundedQueue, type QueueLoad } from '../limits/bounded-queue.ts';
import { innerSpan, leafSpan } from '../tracing/spans.ts';
import { ARGON2ID_DUMMY, isOwnArgon2id } from './argon2id.ts';
import { readHash } from './foreign/read-hash.ts';
import type { HashingTask } from './hashing-thread.ts';

export type HasherOptions = {
  /** Default: `bcrypt`, as SPEC "Password handling" says. `argon2id` needs Node.js 24.7 or later. */
  readonly scheme?: HashScheme;
  /** The binary logarithm of the number of rounds of bcrypt. SPEC "Password handling": 10. */
  readonly cost?: number;
  readonly maxWait?: number;
  readonly runner?: HashingRunner;
};

const DEFAULT_COST = 10;
/** Milliseconds that a hash of `DEFAULT_COST` is expected to take. A cost that is higher by one doubles the time. */
const EXPECTED_DURATION = 50;

/** Whether a hash is of bcrypt and of this service. Imported hashes of bcrypt begin with `bcrypt$` (./foreign/storable-hash.ts). */
const isOwnBcrypt = (hash: string): boolean => hash.startsWith('$2');
/** Whether a comparison with an imported hash may take many megabytes of memory. */
const isMemoryHard = (text: string): boolean => {
  const hash = readHash(text);
  return 'scheme' in hash && (hash.scheme === 'argon2' || hash.scheme === 'scrypt');
};

/**
 * Hashes in threads, behind a bounded queue, so that many log-ins do not block other requests (ADR 0008). Memory-hard hashes with other parameters than
 * those of this service are compared one at a time, which takes some 128 MiB at most. An argon2id of this service takes 19 MiB in each thread.
 */
export const passwordHasher = ({
  scheme = 'bcrypt',
  cost = DEFAULT_COST,
  maxWait = 10_000,
  runner = hashingThreads(),
}: HasherOptions = {}): PasswordHasher & { readonly load: () => QueueLoad } => {
  const enqueue = boundedQueue({
    width: runner.width,
    maxWait,
    expectedDuration: EXPECTED_DURATION * 2 ** (cost - DEFAULT_COST),
  });
  const memoryHardQueue = boundedQueue({ width: 1, maxWait });
  const runTask = (task: HashingTask): Promise<HashingResult> => {
    const hash = () => leafSpan('hash', {}, () => runner.run(task), 'internal');
    return innerSpan('hash queue', {}, () => enqueue(hash), 'internal');
  };
  // Well-formed hashes of no known password, for instance for an unknown account. With argon2id, some accounts may still have hashes of bcrypt.
  const bcryptDummy = `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;
  const dummies = scheme === 'argon2id' ? [ARGON2ID_DUMMY, bcryptDummy] : [bcryptDummy];
  return {
    hash: async (password) => {
      if (!isHashable(password, PASSWORD_MAX_BYTES[scheme])) throw new RangeError('This password cannot be hashed.');
      return String(await runTask({ password, scheme, cost }));
    },
    verify: async (password, hash, hidesMatch = false) => {
      const compare = () => runTask({ password, hash, dummies, hidesMatch });
      const isForeign = hash !== null && !isOwnBcrypt(hash) && !isOwnArgon2id(hash);
      const matches = (await (isForeign && isMemoryHard(hash) ? memoryHardQueue(compare) : compare())) === true;
      return matches && hash !== null && (!isOwnBcrypt(hash) || isHashable(password, PASSWORD_MAX_BYTES.bcrypt));
    },
    needsRehash: (hash) =>
      scheme === 'bcrypt' ? !isOwnBcrypt(hash) || bcrypt.getRounds(hash) < cost : !isOwnArgon2id(hash),
    load: () => ({ ...enqueue.load(), waiting: enqueue.load().waiting + memoryHardQueue.load().waiting }),
  };
};

type HashingResult = string | boolean;

export type HashingRunner = { readonly width: number; readonly run: (task: HashingTask) => Promise<HashingResult> };

/** More threads are not started, since each takes some megabytes. */
const MAX_THREADS = 8;
/** With a second task waiting in it, a thread is not idle while the main thread reads the result of the first one. */
const TASKS_PER_THREAD = 2;
/** On Linux, each thread has its own priority (nice(2)): hashing threads yield to the thread that serves requests. */
const NICENESS = 10;

let threads: Promise<Piscina<HashingTask, HashingResult>> | undefined;

const startThreads = async (count: number) => {
  const { Piscina } = await import('piscina');
  return new Piscina<HashingTask, HashingResult>({
    // The extension of this file, since the packed service is compiled to JavaScript.
    filename: join(import.meta.dirname, `hashing-thread${extname(import.meta.filename)}`),
    minThreads: count,
    maxThreads: count,
    concurrentTasksPerWorker: TASKS_PER_THREAD,
    niceIncrement: NICENESS,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
  });
};

/** Threads for this process's share of the cores, up to `MAX_THREADS`. They start with the first task. @param processes that share the cores */
export const hashingThreads = (processes = 1): HashingRunner => {
  const count = Math.min(Math.ceil(availableParallelism() / processes), MAX_THREADS);
  return {
    width: count * TASKS_PER_THREAD,
    run: async (task) => {
      threads ??= startThreads(count);
      return (await threads).run(task);
    },
  };
};
