import { inspect } from 'node:util';
import { expect } from 'vitest';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { Run } from './suite.ts';

/** Stands for a hook that an adapter cannot offer. The tests that need the hook are skipped and give this reason. */
export type Absent = { readonly absent: string };

export const absent = (reason: string): Absent => ({ absent: reason });

/** The hooks that every store has. A test may call one several times; `close` also closes what they opened. */
export type StoreHooks<Port> = {
  /**
   * Opens a second instance over the same store, as another process has it: over connections of its own. That of a synchronous
   * adapter runs in another thread (`in-thread.ts`), since two of them in one thread never interleave.
   */
  readonly another: (() => Promise<Port>) | Absent;
  /** Opens an instance whose store fails at every call, with an error of the driver. */
  readonly failing: (() => Promise<Port>) | Absent;
};

/** The hook, or the end of the test when it is absent. */
export const offered = <Hook>(hook: Hook | Absent, { skip }: Run): Hook =>
  typeof hook === 'object' && hook !== null && 'absent' in hook ? skip(hook.absent) : hook;

/** Expects an error that no driver has made, and that repeats none of the texts. */
export const expectTranslated = (error: unknown, secrets: readonly string[]): void => {
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({ code: 'DB_QUERY_FAILED', cause: undefined });
  const shown = inspect(error, { depth: null, showHidden: true });
  for (const secret of secrets) expect(shown).not.toContain(secret);
};

/** The rejection of a call. @param name for the message if there is none. */
export const rejection = (call: Promise<unknown>, name = 'the call'): Promise<unknown> =>
  call.then(
    () => expect.unreachable(`${name} should have been rejected`),
    (error: unknown) => error,
  );
