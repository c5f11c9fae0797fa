import type { ChromiumProgram } from '../browser/program.ts';
import type { PostgresPrograms } from './postgres.ts';
import type { RedisProgram } from './redis.ts';

/** A server that all tests share, and what those start that want one to themselves; `null` where there is none. */
type Provided<Programs> = { readonly url: string | null; readonly programs: Programs | null };

declare module 'vitest' {
  interface ProvidedContext {
    /** What the services of a project's tests run on unless a test says otherwise. */
    readonly parts: 'embedded' | 'real';
    /** Projects that are embedded throughout have neither of these. */
    readonly postgresql: Provided<PostgresPrograms> | undefined;
    readonly redis: Provided<RedisProgram> | undefined;
    /** The project of the browser has it, if it can be had here. */
    readonly chromium: ChromiumProgram | null | undefined;
  }
}
