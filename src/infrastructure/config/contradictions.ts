import { parseDuration } from '../duration.ts';
import type { Texts } from './variables.ts';

const TIMEOUTS = ['DATABASE_CONNECTION_TIMEOUT', 'DATABASE_STATEMENT_TIMEOUT', 'DATABASE_IDLE_TIMEOUT'] as const;

/** What no variable shows by itself, a line each. SPEC "Refresh cookie"; RFC 6265bis §5.7 for SameSite=None. */
export const contradictions = (texts: Texts): string[] => {
  const production = texts.NODE_ENV === 'production';
  const insecure = texts.JWT_REFRESH_COOKIE_SECURE === 'false';
  const rules: [broken: boolean, problem: string][] = [
    [production && insecure, 'JWT_REFRESH_COOKIE_SECURE: must be true in production'],
    [
      !production && insecure && texts.JWT_REFRESH_COOKIE_SAME_SITE === 'none',
      'JWT_REFRESH_COOKIE_SECURE: must be true when JWT_REFRESH_COOKIE_SAME_SITE is none',
    ],
    [production && /^[4-9]$/.test(texts.BCRYPT_COST ?? ''), 'BCRYPT_COST: must be at least 10 in production'],
    [production && texts.DATABASE_URL === 'memory:', 'DATABASE_URL: must name a PostgreSQL database in production'],
    [
      texts.SESSION_STORE === 'redis' && texts.REDIS_URL === undefined,
      'REDIS_URL: required when SESSION_STORE is redis',
    ],
  ];
  const patience = Number(texts.REQUEST_TIMEOUT_MS);
  for (const name of TIMEOUTS) {
    const timeout = parseDuration(texts[name] ?? '');
    rules.push([timeout !== null && timeout >= patience, `${name}: must be below REQUEST_TIMEOUT_MS`]);
  }
  rules.push([texts.METRICS?.split(':').at(-1) === texts.PORT, 'METRICS: must not be the port of the service']);
  return rules.filter(([broken]) => broken).map(([, problem]) => problem);
};
