import { hostOf, isFar, isLoopback } from './hosts.ts';

/** Parameters of the URL that override the options of node-postgres. */
const TIMEOUTS = ['statement_timeout', 'query_timeout', 'idle_in_transaction_session_timeout'];

/** The first parameter of the URL that would override DATABASE_STATEMENT_TIMEOUT. */
export const overridden = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : TIMEOUTS.find((name) => new URL(url).searchParams.has(name));

/**
 * Whether an attacker on the network could read the traffic to PostgreSQL, or impersonate it.
 * @param environment PGSSLMODE, which node-postgres uses when the URL does not configure TLS.
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
