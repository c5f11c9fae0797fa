import { LINK_PURPOSES } from '../../../../src/domain/link.ts';
import { type Faults, linksIn, rowsOf } from './fault.ts';

const FINDS = 'finds a link by its purpose and its token';
const PURPOSE = 'does not find one by the token of another purpose';
const REPLACES = 'replaces the link of the same user and purpose that undoes from the same time on';
const ABOUT = 'finds the live links of a purpose that are about an address';
const EXPIRED = 'neither finds nor takes a link that has expired';

export const FINDING: Faults = {
  'consumes a link when it is found': { wrong: ({ take }) => ({ find: take }), caughtBy: FINDS },
  'finds a token in any letter case': {
    wrong: ({ find }, { tables }) => ({
      find: async (purpose, hash, now) => {
        const [alike] = linksIn(tables, ({ tokenHash }) => tokenHash.toLowerCase() === hash.toLowerCase());
        return find(purpose, alike?.tokenHash ?? hash, now);
      },
    }),
    caughtBy: FINDS,
  },
  'returns the objects that it keeps': {
    wrong: (_correct, { tables }) => ({
      find: async (purpose, hash) =>
        linksIn(tables, (link) => link.purpose === purpose && link.tokenHash === hash)[0] ?? null,
    }),
    caughtBy: FINDS,
  },
  'lists the links of all users': {
    wrong: (_correct, { tables }) => ({ listByUser: async () => linksIn(tables, () => true) }),
    caughtBy: FINDS,
  },
  'finds a link by the token alone': {
    wrong: ({ find }) => ({
      find: async (_purpose, tokenHash, now) => {
        const found = await Promise.all(LINK_PURPOSES.map((purpose) => find(purpose, tokenHash, now)));
        return found.find((link) => link !== null) ?? null;
      },
    }),
    caughtBy: PURPOSE,
  },
  'takes a link by the token alone': {
    wrong: ({ take }) => ({
      take: async (_purpose, tokenHash, now) => {
        const taken = await Promise.all(LINK_PURPOSES.map((purpose) => take(purpose, tokenHash, now)));
        return taken.find((link) => link !== null) ?? null;
      },
    }),
    caughtBy: PURPOSE,
  },
  'keeps the older link of a user and a purpose': {
    wrong: (_correct, { tables }) => ({ put: async (link) => void rowsOf(tables).set(link.tokenHash, { ...link }) }),
    caughtBy: REPLACES,
  },
  'replaces the links of all purposes': {
    wrong: ({ put, removeOfUser }) => ({
      put: async (link) => {
        await removeOfUser(link.userId, LINK_PURPOSES);
        await put(link);
      },
    }),
    caughtBy: REPLACES,
  },
  'replaces what undoes from other times on': {
    wrong: ({ put, removeOfUser }) => ({
      put: async (link) => {
        await removeOfUser(link.userId, [link.purpose]);
        await put(link);
      },
    }),
    caughtBy: REPLACES,
  },
  'replaces the links of all users': {
    wrong: ({ put, removeOfUser }, { tables }) => ({
      put: async (link) => {
        for (const { userId } of linksIn(tables, () => true)) await removeOfUser(userId, [link.purpose]);
        await put(link);
      },
    }),
    caughtBy: REPLACES,
  },
  'lists links about an address that have expired': {
    wrong: ({ listByEmail }) => ({ listByEmail: (purpose, email) => listByEmail(purpose, email, 0) }),
    caughtBy: ABOUT,
  },
  'lists the links of all purposes that are about an address': {
    wrong: ({ listByEmail }) => ({
      listByEmail: async (_purpose, email, now) =>
        (await Promise.all(LINK_PURPOSES.map((purpose) => listByEmail(purpose, email, now)))).flat(),
    }),
    caughtBy: ABOUT,
  },
  'lists the links of one user about an address': {
    wrong: ({ listByEmail }) => ({
      listByEmail: async (purpose, email, now) => (await listByEmail(purpose, email, now)).slice(0, 1),
    }),
    caughtBy: ABOUT,
  },
  'finds a link in the millisecond of its expiry': {
    wrong: ({ find }) => ({ find: (purpose, tokenHash, now) => find(purpose, tokenHash, now - 1) }),
    caughtBy: EXPIRED,
  },
  'takes an expired link': {
    wrong: ({ take }) => ({ take: (purpose, tokenHash) => take(purpose, tokenHash, 0) }),
    caughtBy: EXPIRED,
  },
  'lists the expired links of a user': {
    wrong: ({ listByUser }) => ({ listByUser: (userId) => listByUser(userId, 0) }),
    caughtBy: EXPIRED,
  },
  'removes an expired link when it is looked for': {
    wrong: ({ find, purge }) => ({
      find: async (purpose, tokenHash, now) => {
        await purge(now, 1_000);
        return find(purpose, tokenHash, now);
      },
    }),
    caughtBy: EXPIRED,
  },
};
