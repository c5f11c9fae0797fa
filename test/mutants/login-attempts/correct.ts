import type { Attempt, LoginAttempts } from '../../../src/application/ports/login-attempts.ts';
import { counted, type LoginThrottle, succeeded, waitFor, withdrawn } from '../../../src/domain/login-throttle.ts';
import { type Access, type Rows, translating } from '../harness/shared-rows.ts';

/** The attempts of one key. */
export type Throttle = { readonly id: string; readonly throttle: LoginThrottle };

/** The connection of an instance, and its clock in milliseconds. */
export type Connection = { readonly access: Access<Throttle>; readonly now: () => number };

export const waitIn = (rows: Rows<Throttle>, { key, client }: Attempt, at: number): number =>
  waitFor(rows.get(key)?.throttle ?? null, client, at);

export const countIn = (rows: Rows<Throttle>, { key, client }: Attempt, at: number): void =>
  rows.set({ id: key, throttle: counted(rows.get(key)?.throttle ?? null, client, at) });

/** The mutants differ from this adapter in one fault each. */
export const correctAttempts = ({ access: untranslated, now }: Connection): LoginAttempts => {
  const access = translating(untranslated);
  const settle = ({ key, client }: Attempt, settled: typeof withdrawn): Promise<void> =>
    access((rows) => {
      const stored = rows.get(key);
      if (stored !== undefined) rows.set({ id: key, throttle: settled(stored.throttle, client) });
    });
  return {
    begin: (attempt) =>
      access((rows) => {
        const wait = waitIn(rows, attempt, now());
        if (wait === 0) countIn(rows, attempt, now());
        return wait;
      }),
    succeed: (attempt) => settle(attempt, succeeded),
    withdraw: (attempt) => settle(attempt, withdrawn),
  };
};
