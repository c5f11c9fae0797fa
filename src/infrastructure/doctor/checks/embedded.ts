import { type Finding, note, ok, problem } from '../finding.ts';

export type EmbeddedFacts = {
  /** Whether there is a database. */
  readonly exists: boolean;
  /** What the lock names as its holder; `null` when nobody has it. */
  readonly holder: string | null;
  readonly migrateOnStart: boolean;
};

/** Of a database that is not opened: to open it would write to it, and would lock out the service. */
export const embeddedFindings = ({ exists, holder, migrateOnStart }: EmbeddedFacts): Finding[] => {
  if (holder !== null) return [ofHolder(holder)];
  if (!exists && !migrateOnStart)
    return [
      problem(
        'database.missing',
        'DATA_DIR has no database yet, and MIGRATE_ON_START is false: it would stay without tables.',
        'Run `npm run migrate`.',
      ),
    ];
  if (!exists)
    return [note('database.missing', 'DATA_DIR has no database yet.', 'Nothing: the first start creates it.')];
  return [
    ok('database.idle', 'DATA_DIR has an embedded database, and no process uses it.'),
    note(
      'database.unopened',
      'Its migrations were not looked at: to open it would write to it.',
      migrateOnStart ? 'Nothing: the next start applies what is missing.' : 'Run `npm run migrate` after an update.',
    ),
  ];
};

const ofHolder = (holder: string): Finding =>
  /^[1-9]\d{0,9}$/.test(holder)
    ? note(
        'database.in-use',
        `Process ${holder} uses the embedded database, so it was not looked into.`,
        'Ask the running service: `GET /health/ready`. If that process is not Tandem, remove tandem.pid from DATA_DIR.',
      )
    : problem(
        'database.lock',
        'tandem.pid in DATA_DIR names no process: the service does not start.',
        'Make sure that no process uses DATA_DIR, and remove tandem.pid.',
      );
