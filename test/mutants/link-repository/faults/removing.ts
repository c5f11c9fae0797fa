import { LINK_PURPOSES } from '../../../../src/domain/link.ts';
import { keepingTheCause, quoting } from '../../harness/translated.ts';
import { type Faults, linksIn } from './fault.ts';

const REMOVES = 'removes the links of a user, or those of some purposes';
const PURGES = 'purges expired links, and only those';
const LOSES = 'loses the links of a user who is deleted';
const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

export const REMOVING: Faults = {
  'removes the links of all purposes': {
    wrong: ({ removeOfUser }) => ({ removeOfUser: (userId) => removeOfUser(userId, LINK_PURPOSES) }),
    caughtBy: REMOVES,
  },
  'takes no purpose for all purposes': {
    wrong: ({ removeOfUser }) => ({
      removeOfUser: (userId, purposes) => removeOfUser(userId, purposes.length === 0 ? LINK_PURPOSES : purposes),
    }),
    caughtBy: REMOVES,
  },
  'removes the links of the first purpose alone': {
    wrong: ({ removeOfUser }) => ({ removeOfUser: (userId, purposes) => removeOfUser(userId, purposes.slice(0, 1)) }),
    caughtBy: REMOVES,
  },
  'removes the links of all users': {
    wrong: ({ removeOfUser }, { tables }) => ({
      removeOfUser: async (_userId, purposes) => {
        for (const { userId } of linksIn(tables, () => true)) await removeOfUser(userId, purposes);
      },
    }),
    caughtBy: REMOVES,
  },
  'purges live links': {
    wrong: ({ purge }) => ({ purge: (_now, limit) => purge(Number.MAX_SAFE_INTEGER, limit) }),
    caughtBy: PURGES,
  },
  'keeps a link in the millisecond of its expiry': {
    wrong: ({ purge }) => ({ purge: (now, limit) => purge(now - 1, limit) }),
    caughtBy: PURGES,
  },
  'purges more than the limit': {
    wrong: ({ purge }) => ({ purge: (now) => purge(now, Number.MAX_SAFE_INTEGER) }),
    caughtBy: PURGES,
  },
  'keeps the links of a user who is deleted': { wrong: () => ({ forget: () => undefined }), caughtBy: LOSES },
  'loses the links of all users when one is deleted': {
    wrong: ({ purge }) => ({ forget: () => purge(Number.MAX_SAFE_INTEGER, 1_000) }),
    caughtBy: LOSES,
  },
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ listByUser: untranslated.listByUser }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ take: quoting(untranslated.take) }),
    caughtBy: FAILS,
  },
  'keeps the error of the driver as the cause': {
    wrong: (_correct, { untranslated }) => ({ find: keepingTheCause(untranslated.find) }),
    caughtBy: FAILS,
  },
  'finds no link while its store is unavailable': {
    wrong: ({ find }) => ({ find: (...given) => find(...given).catch(() => null) }),
    caughtBy: FAILS,
  },
  'says nothing of links that it could not remove': {
    wrong: ({ removeOfUser }) => ({ removeOfUser: (...given) => removeOfUser(...given).catch(() => undefined) }),
    caughtBy: FAILS,
  },
};
