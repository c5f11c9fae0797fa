import { lockDataDir } from '../../../src/infrastructure/data-dir/data-dir-lock.ts';

/** A process that tries to lock a data directory, prints the result, and runs until its input ends. */
const [, , dataDir = ''] = process.argv;
try {
  lockDataDir(dataDir);
  process.stdout.write('held');
} catch {
  process.stdout.write('refused');
}
process.stdin.resume();
