import { hasDatabase, lockHolder } from '../../data-dir/data-dir-lock.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './finding.ts';
import { postgresql } from './postgresql.ts';

export const database = async ({ config }: Pick<SetUp, 'config'>): Promise<Findings> => {
  const { database: options } = config;
  if (options.kind === 'postgresql') return postgresql(config, options);
  return embedded(options.dataDir, config.migrateOnStart);
};

/** Does not open the database, which would write to it, and lock out the service. */
const embedded = (dataDir: string, migrateOnStart: boolean): Finding => {
  const holder = lockHolder(dataDir);
  if (holder !== null) return ofHolder(holder);
  if (hasDatabase(dataDir))
    return ok(
      'database.idle',
      'DATA_DIR has an embedded database, and no process uses it. Its migrations were not examined.',
    );
  const seen = 'DATA_DIR has no database yet';
  return migrateOnStart
    ? note('database.missing', `${seen}.`, 'Nothing: the first start creates it.')
    : problem(
        'database.missing',
        `${seen}, and MIGRATE_ON_START is false: it would stay without tables.`,
        'Run `npm run migrate`.',
      );
};

const ofHolder = (holder: string): Finding =>
  /^[1-9]\d{0,9}$/.test(holder)
    ? note(
        'database.in-use',
        `Process ${holder} uses the embedded database, so it was not examined.`,
        'Ask the running service: `GET /health/ready`. If that process is not Tandem, remove tandem.pid from DATA_DIR.',
      )
    : problem(
        'database.lock',
        'tandem.pid in DATA_DIR names no process: the service does not start.',
        'Make sure that no process uses DATA_DIR, and remove tandem.pid.',
      );
