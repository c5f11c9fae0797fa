import { lockDataDir } from '../../../src/infrastructure/data-dir/data-dir-lock.ts';

/** A process that takes a data directory if it can, says so, and lives until its input ends. */
const [, , dataDir = ''] = process.argv;
try {
  lockDataDir(dataDir);
  process.stdout.write('held');
} catch {
  process.stdout.write('refused');
}
process.stdin.resume();
