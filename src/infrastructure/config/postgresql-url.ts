import { hostOf, isFar, isLoopback } from './hosts.ts';

/** What node-postgres takes from the URL rather than from what it is told. */
const TIMEOUTS = ['statement_timeout', 'query_timeout', 'idle_in_transaction_session_timeout'];

/** The first parameter of the URL that would override DATABASE_STATEMENT_TIMEOUT. */
export const overridden = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : TIMEOUTS.find((name) => new URL(url).searchParams.has(name));

/**
 * Whether somebody on the way could read what the service and its PostgreSQL say, or pass for the PostgreSQL.
 * @param environment PGSSLMODE, which node-postgres takes where the URL says nothing of TLS.
 */
export const isInsecure = (url: string, environment: string | undefined): boolean => {
  const parsed = new URL(url);
  const given = (name: string) => parsed.searchParams.get(name) ?? undefined;
  const host = given('host') ?? hostOf(parsed);
  const mode = given('sslmode') ?? (given('ssl') === undefined ? environment : undefined);
  if (mode === 'disable') return !isLoopback(host);
  const names = given('sslcert') ?? given('sslkey') ?? given('sslrootcert') ?? mode;
  const isEncrypted = names !== undefined || /^(?:true|1)$/.test(given('ssl') ?? '');
  const checksNothing =
    mode === 'no-verify' || (given('uselibpqcompat') === 'true' && (mode === 'prefer' || mode === 'require'));
  return isFar(host) && (!isEncrypted || checksNothing);
};
