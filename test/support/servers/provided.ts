import type { BrowserProgram, ChromiumPrograms, WebkitPrograms } from '../browser/program.ts';
import type { GaleraProgram } from './galera.ts';
import type { MariadbProgram } from './mariadb.ts';
import type { PgbouncerProgram } from './pgbouncer.ts';
import type { PostgresPrograms } from './postgres.ts';
import type { RedisProgram } from './redis.ts';

/** The shared server, and the programs for tests that start their own; `null` when not available. */
type Provided<Programs> = { readonly url: string | null; readonly programs: Programs | null };

declare module 'vitest' {
  interface ProvidedContext {
    /** The storage of services in the tests of a project, unless a test sets it. */
    readonly parts: 'embedded' | 'real' | 'pooled';
    /** A directory that all tests of a run share. The project `core` has none. */
    readonly runDirectory: string;
    /** Absent in projects that are always embedded. */
    readonly postgresql: Provided<PostgresPrograms> | undefined;
    readonly redis: Provided<RedisProgram> | undefined;
    /** In the project `pooled`, it is in front of all databases; tests of a pooler start their own. */
    readonly pgbouncer: PgbouncerProgram | null | undefined;
    readonly mariadb: MariadbProgram | null | undefined;
    /** Present in the project `rest-servers`, if available. */
    readonly galera: GaleraProgram | null | undefined;
    /** Present in the browser project, if available. */
    readonly chromium: ChromiumPrograms | null | undefined;
    readonly firefox: BrowserProgram | null | undefined;
    readonly webkit: WebkitPrograms | null | undefined;
  }
}
