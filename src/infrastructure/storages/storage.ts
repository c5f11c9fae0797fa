import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import type { Readings } from '../../adapters/metrics/prometheus.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { Values } from '../config/values.ts';

/** One kind of storage: a row of the table in `storages.ts`. */
export type StorageRow<Options> = {
  /** Whether DATABASE_URL selects it; `undefined` is unset. Only one row accepts a text. */
  readonly isFor: (url: string | undefined) => boolean;
  /** The form of DATABASE_URL, for the message about an invalid one; `null` for the storage that needs none. */
  readonly expected: string | null;
  /** Completes the meaning of DATABASE_URL in the documentation; for the storage that needs none, its effect when unset. */
  readonly meaning: string;
  readonly optionsOf: (values: Values) => Options;
  /** Combinations of values that are refused. @param values without the variables that are invalid. */
  readonly refusals: (values: Partial<Values>) => readonly Rule[];
  /** What production is warned of. @param env has the variables that the driver reads itself. */
  readonly productionWarnings: (values: Values, env: Env) => readonly Rule[];
  /** Imports its drivers when it is called. @throws Error that names the variable at fault, and the reason. */
  readonly open: (options: Options, context: OpenContext) => Promise<OpenStorage>;
  /** Brings the schema up to date, for the command `migrate`. @throws Error as `open`. */
  readonly migrate: (options: Options, onCreate: () => void) => Promise<void>;
};

/** A line that is shown when the condition holds; it begins with the name of a variable and has no value. */
export type Rule = readonly [applies: boolean, text: string];
export type Env = Readonly<Record<string, string | undefined>>;

export type OpenContext = {
  /** Whether to bring the schema up to date. */
  readonly migrate: boolean;
  /** Called before a database is created, if that takes seconds. */
  readonly onCreate: () => void;
  /** Gets lines about backups and checkpoints of the embedded database. */
  readonly logger: Pick<Logger, 'info' | 'warn'>;
};

export type OpenStorage = Omit<Storage, 'sessions'> & {
  /** @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022. */
  readonly sessionsWithin: (options: { readonly budget: number }) => SessionRepository;
  readonly checks: readonly Check[];
  readonly connections: Readings['databaseConnections'];
  readonly close: () => Promise<void>;
};
