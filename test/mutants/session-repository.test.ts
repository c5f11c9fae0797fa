import { describeSessionRepository } from '../contracts/session-repository.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { correctSessions } from './session-repository/correct.ts';
import { ADDING } from './session-repository/faults/adding.ts';
import { BINDING } from './session-repository/faults/binding.ts';
import { ENDING } from './session-repository/faults/ending.ts';
import { FAILING } from './session-repository/faults/failing.ts';
import { withFault } from './session-repository/faults/fault.ts';
import { LIMITING } from './session-repository/faults/limiting.ts';
import { PURGING } from './session-repository/faults/purging.ts';
import { REVERTING } from './session-repository/faults/reverting.ts';
import { ROTATING } from './session-repository/faults/rotating.ts';
import { inMemory } from './session-repository/in-memory.ts';
import { onSqlite } from './session-repository/on-sqlite.ts';
import type { SqliteFault } from './session-repository/sqlite.ts';

/** On SQLite, which is synchronous. */
const ON_SQLITE: Readonly<Record<Exclude<SqliteFault, 'none'>, string>> = {
  'checks the current token, and then sets the next one':
    'accepts exactly one of two rotations that wait for the store',
  'compares the time before it waits for the lock': 'never performs a rotation after its budget',
  'has no cascade from users to their sessions': 'loses the sessions of a user who is deleted',
  'lets "database is locked" through':
    'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored',
};
const SQLITE = Object.fromEntries(
  Object.entries(ON_SQLITE).map(([fault, caughtBy]) => [
    `${fault}, on SQLite`,
    { fault: fault as SqliteFault, caughtBy },
  ]),
);

describeSessionRepository('correctSessions', inMemory(correctSessions));
describeSessionRepository('the correct adapter on SQLite', onSqlite('none'));

describeMutants((make: ReturnType<typeof inMemory>, suite) => describeSessionRepository('a mutant', make, suite), {
  ...mutantsOf(
    (fault) => inMemory(withFault(fault)),
    ADDING,
    ROTATING,
    BINDING,
    REVERTING,
    ENDING,
    LIMITING,
    PURGING,
    FAILING,
  ),
  ...mutantsOf(({ fault }) => onSqlite(fault), SQLITE),
});
