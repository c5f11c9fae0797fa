import type { Config } from '../../config.ts';
import { inWords } from '../durations.ts';
import { type Finding, note, ok, warning } from '../finding.ts';

export type TimeOutFacts = {
  /** Milliseconds, as are all others. */
  readonly request: number;
  /** How long the service keeps a connection without a request. */
  readonly keepAlive: number;
  /** `null` without a PostgreSQL. */
  readonly database: { readonly connection: number; readonly statement: number } | null;
};

/** @param keepAlive milliseconds. */
export const timeOutsOf = ({ requestTimeout, database }: Config, keepAlive: number): TimeOutFacts => ({
  request: requestTimeout,
  keepAlive,
  database:
    database.kind === 'postgresql'
      ? { connection: database.connectionTimeout, statement: database.statementTimeout }
      : null,
});

/** Whether the inner time-outs end before the outer ones, which could otherwise not report why. */
export const timeOutFindings = ({ request, keepAlive, database }: TimeOutFacts): Finding[] => [
  ...(database === null ? [] : [ofDatabase(request, database)]),
  note(
    'time-outs.proxy',
    `A response may take ${inWords(request)}, and the service keeps an idle connection for ${inWords(keepAlive)}. The proxy’s time-outs cannot be seen from here.`,
    `Let the proxy wait longer than ${inWords(request)} for a response, and close idle connections before ${inWords(keepAlive)}.`,
  ),
];

const ofDatabase = (request: number, { connection, statement }: NonNullable<TimeOutFacts['database']>): Finding => {
  const inner = `${inWords(connection)} for a connection and ${inWords(statement)} for a statement`;
  if (connection + statement <= request)
    return ok('time-outs.order', `A request has ${inWords(request)}: enough for ${inner} of PostgreSQL.`);
  return warning(
    'time-outs.order',
    `A request has ${inWords(request)}, less than ${inner}: it can end without telling that the database was slow.`,
    'Lower DATABASE_CONNECTION_TIMEOUT or DATABASE_STATEMENT_TIMEOUT, or raise REQUEST_TIMEOUT_MS.',
  );
};
