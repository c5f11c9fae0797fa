import * as v from 'valibot';
import * as form from './schemas.ts';
import type { Variable } from './variable.ts';

const TIMEOUT = 'a duration such as 5s, below REQUEST_TIMEOUT_MS';

/** Settings of the connection pool to PostgreSQL. The embedded database has none of them. */
export const DATABASE_VARIABLES = {
  DATABASE_POOL_SIZE: {
    schema: form.wholeNumber(1, 1_000),
    expected: 'a whole number from 1 to 1000',
    default: '10',
    meaning: 'How many connections to PostgreSQL one instance keeps at most.',
  },
  DATABASE_CONNECTION_TIMEOUT: {
    schema: v.optional(form.duration),
    expected: TIMEOUT,
    unset: '3s, at most half of REQUEST_TIMEOUT_MS',
    meaning: 'How long a request waits for a connection to PostgreSQL.',
  },
  DATABASE_STATEMENT_TIMEOUT: {
    schema: v.optional(form.duration),
    expected: TIMEOUT,
    unset: '5s, at most half of REQUEST_TIMEOUT_MS',
    meaning: 'How long a statement may take in PostgreSQL.',
  },
  DATABASE_IDLE_TIMEOUT: {
    schema: v.optional(form.duration),
    expected: TIMEOUT,
    unset: '10s, at most half of REQUEST_TIMEOUT_MS',
    meaning: 'How long an unused connection to PostgreSQL is kept.',
  },
} as const satisfies Record<string, Variable>;
