import { AppError } from '../../../../src/domain/errors/app-error.ts';
import { findIn } from '../correct.ts';
import type { Faults } from './fault.ts';

const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

export const FAILING: Faults = {
  'lets errors of its driver through': {
    wrong: ({ untranslated }) => ({ find: (key) => untranslated((rows) => findIn(rows, key)) }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: ({ untranslated }, correct) => ({
      purge: async (at, limit) => {
        await untranslated(() => undefined).catch((error: unknown) => {
          throw new AppError('DB_QUERY_FAILED', { reason: String(error) });
        });
        return correct.purge(at, limit);
      },
    }),
    caughtBy: FAILS,
  },
  'keeps the error of the driver as the cause': {
    wrong: ({ untranslated }, correct) => ({
      revert: async (rotation) => {
        await untranslated(() => undefined).catch((cause: unknown) => {
          throw new AppError('DB_QUERY_FAILED', { cause });
        });
        return correct.revert(rotation);
      },
    }),
    caughtBy: FAILS,
  },
  'finds nothing while its store is unavailable': {
    wrong: (_connection, correct) => ({ find: (key) => correct.find(key).catch(() => null) }),
    caughtBy: FAILS,
  },
};
