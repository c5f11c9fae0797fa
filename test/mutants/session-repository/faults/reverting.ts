import { type Rotation, reverted } from '../../../../src/domain/session.ts';
import { findIn } from '../correct.ts';
import { byIdAlone, changeBy, type Faults, keyOf } from './fault.ts';

const REVERTS = 'changes the current token alone when a rotation is reverted';

const revertBy =
  (...given: Parameters<typeof changeBy>) =>
  async (rotation: Rotation): Promise<void> =>
    void (await changeBy(...given)(rotation));

export const REVERTING: Faults = {
  'does not revert': {
    wrong: () => ({ revert: async () => undefined }),
    caughtBy: 'reverts a rotation, so that the rotated token is current again',
  },
  'resets the time of the rotation': {
    wrong: ({ access }) => ({
      revert: revertBy(access, (session, rotation) => {
        const before = reverted(session, rotation);
        return before && { ...before, rotatedAt: session.createdAt };
      }),
    }),
    caughtBy: REVERTS,
  },
  'sets the time of the rotation again whenever it is called': {
    wrong: ({ access }) => ({
      revert: revertBy(access, (session, rotation) =>
        [rotation.from, rotation.to].includes(session.currentTokenId)
          ? { ...session, currentTokenId: rotation.from, rotatedAt: rotation.at }
          : null,
      ),
    }),
    caughtBy: REVERTS,
  },
  'forgets the previous token when it reverts': {
    wrong: ({ access }) => ({
      revert: revertBy(access, (session, rotation) => {
        const before = reverted(session, rotation);
        return before && { ...before, previousTokenId: null };
      }),
    }),
    caughtBy: REVERTS,
  },
  'reverts a rotation that was followed by another': {
    wrong: ({ access }) => ({
      revert: revertBy(access, (session, { from }) => ({ ...session, currentTokenId: from })),
    }),
    caughtBy: 'does not revert a rotation that was followed by another',
  },
  'leaves a rotation that has not happened possible': {
    wrong: ({ access }) => ({
      revert: revertBy(access, (session, rotation) =>
        session.currentTokenId === rotation.to ? reverted(session, rotation) : null,
      ),
    }),
    caughtBy: 'never performs a rotation that was reverted before it happened',
  },
  'checks the current token, and then reverts': {
    wrong: ({ access }) => ({
      revert: async (rotation) => {
        const session = await access((rows) => findIn(rows, keyOf(rotation)));
        const before = session && reverted(session, rotation);
        await access((rows) => before && rows.get(before.id) && rows.set(before));
      },
    }),
    caughtBy: 'either reverts a rotation or accepts the next one, when both are asked for at the same time',
  },
  'brings back a session that ends while it is reverted': {
    wrong: ({ access }) => ({
      revert: async (rotation) => {
        const session = await access((rows) => findIn(rows, keyOf(rotation)));
        const before = session && reverted(session, rotation);
        await access((rows) => {
          const stored = before && rows.get(before.id);
          if (before !== null && (stored === undefined || stored?.currentTokenId === rotation.to)) rows.set(before);
        });
      },
    }),
    caughtBy: 'does not bring back a session that ends while it is rotated or reverted',
  },
  'reverts in a session of another user': {
    wrong: ({ access }) => ({ revert: revertBy(access, reverted, byIdAlone) }),
    caughtBy: 'reverts nothing in a session that was ended, or whose token is another',
  },
};
