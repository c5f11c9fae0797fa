import type { SessionRepository } from '../../../../src/application/ports/session-repository.ts';
import type { Rotation, Session, SessionKey } from '../../../../src/domain/session.ts';
import { type Access, type Rows, translating } from '../../harness/shared-rows.ts';
import { type Connection, correctSessions, findIn } from '../correct.ts';

type Wrong = (
  connection: Connection & { readonly untranslated: Access<Session> },
  correct: SessionRepository,
) => Partial<SessionRepository>;

/** The methods of an adapter that are wrong, and the title of the test that has to catch it. */
type Fault = { readonly wrong: Wrong; readonly caughtBy: string };

/** By what is wrong. */
export type Faults = Readonly<Record<string, Fault>>;

/** The correct adapter, except for this fault. */
export const withFault =
  ({ wrong }: Fault) =>
  ({ access, ...others }: Connection): SessionRepository => {
    const correct = correctSessions({ access, ...others });
    return { ...correct, ...wrong({ access: translating(access), untranslated: access, ...others }, correct) };
  };

export const keyOf = ({ sessionId, userId }: Rotation): SessionKey => ({ id: sessionId, userId });

/** Finds a session by its id alone. */
export const byIdAlone = (rows: Rows<Session>, { id }: { readonly id: string }): Session | null => rows.get(id) ?? null;

export type Rule = (session: Session, rotation: Rotation) => Session | null;

/** Changes a session by a rule, in one step. @returns the changed session; `null` if it was not changed. */
export const changeBy =
  (access: Access<Session>, rule: Rule, find = findIn) =>
  (rotation: Rotation): Promise<Session | null> =>
    access((rows) => {
      const session = find(rows, keyOf(rotation));
      const next = session && rule(session, rotation);
      if (next !== null) rows.set(next);
      return next;
    });
