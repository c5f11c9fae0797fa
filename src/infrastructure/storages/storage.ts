import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/check.ts';
import type { Readings } from '../../adapters/metrics/prometheus.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';

export type OpenContext = {
  readonly migrate: boolean;
  /** Called before a database is created, if that takes seconds. */
  readonly onCreate: () => void;
  /** Gets lines about backups and checkpoints of the embedded database. */
  readonly logger: Pick<Logger, 'info' | 'warn'>;
};

/** A storage whose connection, if it has one, belongs to the caller. */
export const alreadyOpen = ({ sessions, ...stores }: Storage): OpenStorage => ({
  ...stores,
  sessionsWithin: () => sessions,
  checks: [],
  connections: () => null,
  close: async () => undefined,
});

export type OpenStorage = Omit<Storage, 'sessions'> & {
  /** @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022. */
  readonly sessionsWithin: (options: { readonly budget: number }) => SessionRepository;
  readonly checks: readonly Check[];
  readonly connections: Readings['databaseConnections'];
  readonly close: () => Promise<void>;
};
