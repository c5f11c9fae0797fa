import type { BrowserProgram, ChromiumPrograms, WebkitPrograms } from '../browser/program.ts';
import type { GaleraProgram } from './galera.ts';
import type { MariadbProgram } from './mariadb.ts';
import type { PgbouncerProgram } from './pgbouncer.ts';
import type { PostgresPrograms } from './postgres.ts';
import type { RedisProgram } from './redis.ts';

/** The URL of the shared server, and the programs for tests that start their own. What is not available is `null`. */
type Provided<Programs> = { readonly url: string | null; readonly programs: Programs | null };

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the services of a project store their data, unless a test sets it. */
    readonly parts: 'embedded' | 'real' | 'pooled';
    /** A directory that all tests of a run share. The project `core` has none. */
    readonly runDirectory: string;
    /** Absent in projects that never use servers. */
    readonly postgresql: Provided<PostgresPrograms> | undefined;
    readonly redis: Provided<RedisProgram> | undefined;
    /** In the project `pooled`, PgBouncer is in front of all databases. Tests of a pooler start their own. */
    readonly pgbouncer: PgbouncerProgram | null | undefined;
    readonly mariadb: MariadbProgram | null | undefined;
    /** Present only in the project `rest-servers`. */
    readonly galera: GaleraProgram | null | undefined;
    /** Present only in the browser project, like `firefox` and `webkit`. */
    readonly chromium: ChromiumPrograms | null | undefined;
    readonly firefox: BrowserProgram | null | undefined;
    readonly webkit: WebkitPrograms | null | undefined;
  }
}
