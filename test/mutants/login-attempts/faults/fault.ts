import type { Attempt, LoginAttempts } from '../../../../src/application/ports/login-attempts.ts';
import { type Connection, correctAttempts } from '../correct.ts';

export type Wrong = (connection: Connection, correct: LoginAttempts) => Partial<LoginAttempts>;

/** The methods of an adapter that are wrong, and the title of the test that has to catch it. */
type Fault = { readonly wrong: Wrong; readonly caughtBy: string };

/** By what is wrong. */
export type Faults = Readonly<Record<string, Fault>>;

/** The correct adapter, except for this fault. */
export const withFault =
  ({ wrong }: Fault) =>
  (connection: Connection): LoginAttempts => {
    const correct = correctAttempts(connection);
    return { ...correct, ...wrong(connection, correct) };
  };

/** Counts other attempts than it is given. */
export const asIf =
  (change: (attempt: Attempt) => Attempt): Wrong =>
  (_connection, correct) => ({
    begin: (attempt) => correct.begin(change(attempt)),
    succeed: (attempt) => correct.succeed(change(attempt)),
    withdraw: (attempt) => correct.withdraw(change(attempt)),
  });

export const withNames = (change: (names: readonly string[]) => readonly string[]): Wrong =>
  asIf(({ key, client: { kind, names } }) => ({ key, client: { kind, names: change(names) } }));
