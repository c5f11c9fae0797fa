import {
  type DeviceProof,
  deviceStatus,
  type Evidence,
  keysAfter,
  NOT_REQUIRED,
  PROOFS_KEPT,
  withProof,
} from '../../../../src/domain/device-binding.ts';
import {
  type Rotation,
  type RotationOutcome,
  rotated,
  type Session,
  type SessionKey,
} from '../../../../src/domain/session.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Access } from '../../harness/shared-rows.ts';
import { type Connection, change, findIn, withUser } from '../correct.ts';
import { byIdAlone, changeBy, type Faults, type Rule } from './fault.ts';

const PROOF = 'rotates a session with a key of its device only with an unused proof of it, unless none is required';
const BROWSER = 'rotates a session with a key of its browser by that key, or by a proof of the key of its page';
const MEMORY =
  'remembers the greatest numbers of used proofs, also after a revert, and takes others for used only below them';
const HAS_KEY = 'uses a proof only for a session that has its key';
const ONE_USE = 'accepts exactly one of many concurrent uses of one proof';
const PAGE = 'replaces the keys of a session by that of a page, and forgets no used proof';
const FIRST = 'keeps the first key of a browser';
const ENDS = 'does not bring back a session that ends while a proof is used or a key is bound';

const rotateBy =
  ({ access, users }: Pick<Connection, 'access' | 'users'>, rule: Rule) =>
  async (rotation: Rotation): Promise<RotationOutcome> => {
    const next = await changeBy(access, rule)(rotation);
    return next === null ? 'stale' : withUser(users, next);
  };

/** Rotates as if the request had shown something else. */
const seeing = (connection: Connection, see: (evidence: Evidence, session: Session) => Evidence) => ({
  rotate: rotateBy(connection, (session, rotation) =>
    rotated(session, { ...rotation, evidence: see(rotation.evidence, session) }),
  ),
});

type UseRule = (session: Session, proof: DeviceProof) => Session | null;

/** Uses proofs by a rule, in one step. */
const useBy = (access: Access<Session>, rule: UseRule) => ({
  useProof: (key: SessionKey, proof: DeviceProof) =>
    access((rows) => change(rows, key, (session) => rule(session, proof))),
});

/** With another memory of used proofs. */
const remembering = (
  access: Access<Session>,
  proofsAfter: (proofs: readonly number[], number: number) => readonly number[],
) =>
  useBy(access, (session, proof) => {
    const used = withProof(session, proof);
    return used && { ...used, proofs: proofsAfter(session.proofs, proof.number) };
  });

/** Changes a session in two steps. */
const inTwoSteps = (access: Access<Session>, rule: (session: Session) => Session | null) => async (key: SessionKey) => {
  const session = await access((rows) => findIn(rows, key));
  const changed = session && rule(session);
  if (changed !== null) await access((rows) => rows.set(changed));
  return changed !== null;
};

export const BINDING: Faults = {
  'forgets the key of a page': {
    wrong: (_connection, correct) => ({ add: (session) => correct.add({ ...session, deviceKey: null }) }),
    caughtBy: 'finds the keys of a session and its used proofs',
  },
  'stores the numbers of proofs in few bits': {
    wrong: (_connection, correct) => ({
      add: (session) =>
        correct.add({ ...session, proofs: session.proofs.map((number) => Number(BigInt.asIntN(53, BigInt(number)))) }),
    }),
    caughtBy: 'finds the keys of a session and its used proofs',
  },
  'keeps the device of the log-in': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) =>
        rotated(session, { ...rotation, device: { userAgent: session.userAgent, address: session.address } }),
      ),
    }),
    caughtBy: 'remembers the device that rotated a session last',
  },
  'keeps the last device that is known': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const { userAgent, address } = rotation.device;
        return rotated(session, {
          ...rotation,
          device: { userAgent: userAgent ?? session.userAgent, address: address ?? session.address },
        });
      }),
    }),
    caughtBy: 'remembers the device that rotated a session last',
  },
  'needs no proof': {
    wrong: (connection) => seeing(connection, (evidence) => ({ ...evidence, required: false })),
    caughtBy: PROOF,
  },
  'needs a proof though none is required': {
    wrong: (connection) => seeing(connection, (evidence) => ({ ...evidence, required: true })),
    caughtBy: PROOF,
  },
  'accepts a proof of any key': {
    wrong: (connection) =>
      seeing(connection, ({ proof, ...evidence }, { deviceKey }) => ({
        ...evidence,
        proof: proof && { ...proof, key: deviceKey ?? proof.key },
      })),
    caughtBy: PROOF,
  },
  'accepts a proof again': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated({ ...session, proofs: [] }, rotation);
        return next && keysAfter({ ...next, proofs: session.proofs }, rotation.evidence);
      }),
    }),
    caughtBy: PROOF,
  },
  'rotates without remembering the proof': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && { ...next, proofs: session.proofs };
      }),
    }),
    caughtBy: PROOF,
  },
  'binds a session at its refresh': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated(session, rotation);
        return next && { ...next, deviceKey: next.deviceKey ?? rotation.evidence.proof?.key ?? null };
      }),
    }),
    caughtBy: PROOF,
  },
  'knows only the keys of pages': {
    wrong: (connection) => ({
      rotate: rotateBy(connection, (session, rotation) => {
        const next = rotated({ ...session, browserKey: null }, rotation);
        return next && { ...next, browserKey: session.browserKey };
      }),
    }),
    caughtBy: BROWSER,
  },
  'needs the key of the browser, though the page has one, too': {
    wrong: (connection) =>
      seeing(connection, (evidence, session) =>
        session.browserKey === null ? evidence : { ...evidence, proof: null },
      ),
    caughtBy: BROWSER,
  },
  'accepts any key of a browser': {
    wrong: (connection) =>
      seeing(connection, (evidence, { browserKey }) =>
        evidence.browserKey === null ? evidence : { ...evidence, browserKey },
      ),
    caughtBy: BROWSER,
  },
  'remembers the last proofs, not the greatest': {
    wrong: ({ access }) => remembering(access, (proofs, number) => [number, ...proofs].slice(0, PROOFS_KEPT)),
    caughtBy: MEMORY,
  },
  'remembers one proof less': {
    wrong: ({ access }) =>
      useBy(access, (session, proof) => {
        const used = withProof(session, proof);
        return used && { ...used, proofs: used.proofs.slice(0, PROOFS_KEPT - 1) };
      }),
    caughtBy: MEMORY,
  },
  'takes whatever is below the greatest number for used': {
    wrong: ({ access }) =>
      useBy(access, (session, proof) =>
        proof.number < Math.max(0, ...session.proofs) ? null : withProof(session, proof),
      ),
    caughtBy: MEMORY,
  },
  'accepts what is below all numbers that it remembers': {
    wrong: ({ access }) =>
      useBy(access, (session, proof) =>
        session.proofs.includes(proof.number) || session.deviceKey !== proof.key
          ? null
          : { ...session, proofs: [proof.number, ...session.proofs].toSorted((a, b) => b - a).slice(0, PROOFS_KEPT) },
      ),
    caughtBy: MEMORY,
  },
  'forgets the proof of a rotation that is reverted': {
    wrong: ({ access }, correct) => ({
      revert: async (rotation) => {
        await correct.revert(rotation);
        await changeBy(access, (session) => ({
          ...session,
          proofs: session.proofs.filter((number) => number !== rotation.evidence.proof?.number),
        }))(rotation);
      },
    }),
    caughtBy: MEMORY,
  },
  'checks a proof, and then stores it': {
    wrong: ({ access }) => ({
      useProof: (key, proof) => inTwoSteps(access, (session) => withProof(session, proof))(key),
    }),
    caughtBy: ONE_USE,
  },
  'checks the proof of a rotation before it rotates': {
    wrong: ({ access, users }) => ({
      rotate: async (rotation) => {
        const key = { id: rotation.sessionId, userId: rotation.userId };
        const session = await access((rows) => findIn(rows, key));
        if (session === null || deviceStatus(session, rotation.evidence) === 'unproven') return 'stale';
        return rotateBy({ access, users }, (stored, given) => rotated(stored, { ...given, evidence: NOT_REQUIRED }))(
          rotation,
        );
      },
    }),
    caughtBy: ONE_USE,
  },
  'keeps the proofs that were used at the same time apart within its process only': {
    wrong: ({ access }) => {
      const turn = mutex();
      return {
        useProof: (key, proof) => turn(() => inTwoSteps(access, (session) => withProof(session, proof))(key)),
      };
    },
    caughtBy: 'accepts exactly one of two uses of one proof by two instances',
  },
  'uses a proof of any key': {
    wrong: ({ access }) =>
      useBy(access, (session, proof) => withProof(session, { ...proof, key: session.deviceKey ?? '' })),
    caughtBy: HAS_KEY,
  },
  'uses a proof for a session without a key': {
    wrong: ({ access }) =>
      useBy(access, (session, proof) => (session.deviceKey === null ? session : withProof(session, proof))),
    caughtBy: HAS_KEY,
  },
  'uses a proof for a session of another user': {
    wrong: ({ access }) => ({
      useProof: (key, proof) =>
        access((rows) => {
          const session = byIdAlone(rows, key);
          const used = session && withProof(session, proof);
          if (used !== null) rows.set(used);
          return used !== null;
        }),
    }),
    caughtBy: HAS_KEY,
  },
  'forgets the used proofs with a new key': {
    wrong: ({ access }) => ({
      bindPage: (key, deviceKey) =>
        access((rows) => change(rows, key, (session) => ({ ...session, deviceKey, browserKey: null, proofs: [] }))),
    }),
    caughtBy: PAGE,
  },
  'keeps the first key of a page': {
    wrong: ({ access }) => ({
      bindPage: (key, deviceKey) =>
        access((rows) =>
          change(rows, key, (session) => ({
            ...session,
            deviceKey: session.deviceKey ?? deviceKey,
            browserKey: null,
          })),
        ),
    }),
    caughtBy: PAGE,
  },
  'leaves the key of the browser': {
    wrong: ({ access }) => ({
      bindPage: (key, deviceKey) => access((rows) => change(rows, key, (session) => ({ ...session, deviceKey }))),
    }),
    caughtBy: PAGE,
  },
  'binds a page to a session of another user': {
    wrong: ({ access }) => ({
      bindPage: (key, deviceKey) =>
        access((rows) => {
          const session = byIdAlone(rows, key);
          if (session !== null) rows.set({ ...session, deviceKey, browserKey: null });
          return session !== null;
        }),
    }),
    caughtBy: PAGE,
  },
  'replaces the key of a browser': {
    wrong: ({ access }) => ({
      bindBrowser: (key, browserKey) => access((rows) => change(rows, key, (session) => ({ ...session, browserKey }))),
    }),
    caughtBy: FIRST,
  },
  'refuses the key that the browser has': {
    wrong: ({ access }) => ({
      bindBrowser: (key, browserKey) =>
        access((rows) =>
          change(rows, key, (session) => (session.browserKey === null ? { ...session, browserKey } : null)),
        ),
    }),
    caughtBy: FIRST,
  },
  'replaces the key of a page by that of the browser': {
    wrong: (_connection, correct) => ({
      bindBrowser: async (key, browserKey) => {
        const bound = await correct.bindBrowser(key, browserKey);
        if (bound) await correct.bindPage(key, browserKey);
        return bound;
      },
    }),
    caughtBy: FIRST,
  },
  'checks the key of a browser, and then stores it': {
    wrong: ({ access }) => ({
      bindBrowser: (key, browserKey) =>
        inTwoSteps(access, (session) => (session.browserKey === null ? { ...session, browserKey } : null))(key),
    }),
    caughtBy: 'accepts exactly one of many concurrent first keys of a browser',
  },
  'brings back a session that ends while a proof is used': {
    wrong: ({ access }) => ({
      useProof: (key, proof) => inTwoSteps(access, (session) => withProof(session, proof))(key),
    }),
    caughtBy: ENDS,
  },
  'brings back a session that ends while a key is bound': {
    wrong: ({ access }) => ({
      bindPage: (key, deviceKey) => inTwoSteps(access, (session) => ({ ...session, deviceKey }))(key),
    }),
    caughtBy: ENDS,
  },
};
