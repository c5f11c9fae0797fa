import { type Rotation, type RotationOutcome, reverted, rotated } from '../../../../src/domain/session.ts';
import { type Connection, findIn, now, withUser } from '../correct.ts';
import { byIdAlone, changeBy, type Faults, keyOf, type Rule } from './fault.ts';

const NUMBERS = 'numbers the current token one higher than the last, also after a rotation that was reverted';
const CURRENT = 'changes nothing when another token is current, or has another number';
const FORGOTTEN =
  'rotates a session of which it has forgotten rotations, and reverts that to the token that was rotated';
const RESULT = 'returns the session that it rotates, with its user';
const AGE = 'ends a session at its greatest age, however often it is rotated';
const AUTHENTICATED = 'remembers how and when its user has authenticated, also after a rotation';
const RUNS = 'remembers when the run of rotations began, and with which number';

/** Rotates by a rule that may be another one than the domain's, at any time. */
const rotateBy =
  ({ access, users }: Pick<Connection, 'access' | 'users'>, rule: Rule, find = findIn) =>
  async (rotation: Rotation): Promise<RotationOutcome> => {
    const next = await changeBy(access, rule, find)(rotation);
    return next === null ? 'stale' : withUser(users, next);
  };

export const ROTATING: Faults = {
  'expects the token that is rotated to be current': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => rotated(session, { ...rotation, expected: rotation.from })),
    }),
    caughtBy: FORGOTTEN,
  },
  'reverts to the token that it expected': {
    wrong: ({ access }) => ({
      revert: async (rotation) => {
        await changeBy(access, (session) => reverted(session, { ...rotation, from: rotation.expected }))(rotation);
      },
    }),
    caughtBy: FORGOTTEN,
  },
  'checks the current token, and then sets the next one': {
    wrong: ({ access, users }) => ({
      rotate: async (rotation) => {
        const session = await access((rows) => findIn(rows, keyOf(rotation)));
        const next = session && rotated(session, rotation);
        if (next === null) return 'stale';
        await access((rows) => rows.set(next));
        return withUser(users, next);
      },
    }),
    caughtBy: 'accepts exactly one of many concurrent rotations of the same token',
  },
  'brings back a session that ends while it is rotated': {
    wrong: ({ access, users, budget }) => ({
      rotate: async (rotation) => {
        const deadline = now() + budget;
        const session = await access((rows) => findIn(rows, keyOf(rotation)));
        const next = session && rotated(session, rotation);
        if (next === null) return 'stale';
        return access((rows) => {
          if (now() >= deadline) return 'too-late';
          const stored = rows.get(next.id);
          if (stored !== undefined && stored.currentTokenId !== rotation.from) return 'stale';
          rows.set(next);
          return withUser(users, next);
        });
      },
    }),
    caughtBy: 'does not bring back a session that ends while it is rotated or reverted',
  },
  'locks a session within its own process only': {
    wrong: ({ access, users }) => {
      let last: Promise<unknown> = Promise.resolve();
      return {
        rotate: (rotation) => {
          const result = last.then(async (): Promise<RotationOutcome> => {
            const session = await access((rows) => findIn(rows, keyOf(rotation)));
            const next = session && rotated(session, rotation);
            if (next === null) return 'stale';
            await access((rows) => rows.set(next));
            return withUser(users, next);
          });
          last = result;
          return result;
        },
      };
    },
    caughtBy: 'accepts exactly one of two rotations of the same token by two instances',
  },
  'rotates any token of the session': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) =>
        rotated({ ...session, currentTokenId: rotation.from }, rotation),
      ),
    }),
    caughtBy: CURRENT,
  },
  'rotates a token with any number': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) =>
        rotated({ ...session, rotation: rotation.expectedNumber }, rotation),
      ),
    }),
    caughtBy: CURRENT,
  },
  'rotates a session of another user': {
    wrong: (connection) => ({ rotate: rotateBy(connection, rotated, byIdAlone) }),
    caughtBy: CURRENT,
  },
  'rotates a session that has expired': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) =>
        rotated({ ...session, expiresAt: rotation.at + 1 }, rotation),
      ),
    }),
    caughtBy: 'does not rotate a session that has expired or was ended',
  },
  'rotates a session in the millisecond of its expiry': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) =>
        rotated({ ...session, expiresAt: session.expiresAt + 1 }, rotation),
      ),
    }),
    caughtBy: 'treats a session as expired at its expiry, and as live a millisecond before',
  },
  'keeps the old expiry': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) =>
        rotated(session, { ...rotation, expiresAt: session.expiresAt }),
      ),
    }),
    caughtBy: 'rotates a session by its current token',
  },
  'returns another user': {
    wrong: ({ users }, correct) => ({
      rotate: async (rotation) => {
        const result = await correct.rotate(rotation);
        return typeof result === 'string' ? result : { ...result, user: users[0] ?? result.user };
      },
    }),
    caughtBy: RESULT,
  },
  'returns the expiry before the rotation': {
    wrong: (_connection, correct) => ({
      rotate: async (rotation) => {
        const before = await correct.find(keyOf(rotation));
        const result = await correct.rotate(rotation);
        return typeof result === 'string' ? result : { ...result, expiresAt: before?.expiresAt ?? 0 };
      },
    }),
    caughtBy: RESULT,
  },
  'renews a session beyond its greatest age': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => rotated(session, { ...rotation, maxAge: null })),
    }),
    caughtBy: AGE,
  },
  'counts the age of a session from its last rotation': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) =>
        rotated({ ...session, authenticatedAt: session.rotatedAt }, rotation),
      ),
    }),
    caughtBy: AGE,
  },
  'takes a rotation for an authentication': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && { ...next, authenticatedAt: rotation.at };
      }),
    }),
    caughtBy: AUTHENTICATED,
  },
  'takes each authentication for one with all that was shown before': {
    wrong: (_connection, correct) => ({
      authenticate: (key, shown) => correct.authenticate(key, { ...shown, knownAt: shown.authenticatedAt }),
    }),
    caughtBy: AUTHENTICATED,
  },
  'forgets what a user has shown with a rotation': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && { ...next, amr: ['pwd'] };
      }),
    }),
    caughtBy: AUTHENTICATED,
  },
  'writes how the user of another session has authenticated': {
    wrong: ({ access }) => ({
      authenticate: (key, authenticated) =>
        access((rows) => {
          const session = byIdAlone(rows, key);
          if (session !== null) rows.set({ ...session, ...authenticated });
          return session !== null;
        }),
    }),
    caughtBy: AUTHENTICATED,
  },
  'does not number tokens': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && { ...next, rotation: session.rotation };
      }),
    }),
    caughtBy: NUMBERS,
  },
  'does not count a rotation that was reverted': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && { ...next, rotation: rotation.number + 1 };
      }),
    }),
    caughtBy: NUMBERS,
  },
  'counts rotations that it has forgotten from the last that it knows': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && { ...next, rotation: session.rotation + 1 };
      }),
    }),
    caughtBy: FORGOTTEN,
  },
  'begins a run with every rotation': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => rotated(session, { ...rotation, continuesRun: false })),
    }),
    caughtBy: RUNS,
  },
  'never begins a run': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => rotated(session, { ...rotation, continuesRun: true })),
    }),
    caughtBy: RUNS,
  },
  'keeps the beginning of a run whose first rotation was reverted': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && rotation.continuesRun && session.rotation > 0
          ? { ...next, runStartedAt: session.runStartedAt, runFirst: session.runFirst }
          : next;
      }),
    }),
    caughtBy: 'begins the run again when its first rotation was reverted',
  },
  'begins a run with the number of the new token': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && !rotation.continuesRun ? { ...next, runFirst: next.rotation } : next;
      }),
    }),
    caughtBy: RUNS,
  },
  'begins a run when the rotation before it began': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && !rotation.continuesRun ? { ...next, runStartedAt: session.rotatedAt } : next;
      }),
    }),
    caughtBy: RUNS,
  },
  'rotates after its budget': {
    wrong: (connection) => ({ rotate: rotateBy(connection, rotated) }),
    caughtBy: 'never performs a rotation after its budget',
  },
  'gives up waiting after its budget, and leaves the rotation to happen': {
    wrong: (connection) => ({
      rotate: (rotation) =>
        Promise.race([
          rotateBy(connection, rotated)(rotation),
          new Promise<'too-late'>((resolve) => void setTimeout(resolve, connection.budget, 'too-late')),
        ]),
    }),
    caughtBy: 'never performs a rotation after its budget',
  },
};
