import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The directory in DATA_DIR to which a backup is restored, before it gets its place. */
export const RESTORING = 'restoring';

/** A restore that was killed would leave a service that starts with a new, empty database. @throws Error */
export const assertNotRestoring = (dataDir: string): void => {
  const path = join(dataDir, RESTORING);
  if (existsSync(path))
    throw new Error(`A backup was not restored to the end. Restore it again, or remove ${path} to start without it.`);
};
