import { keepingTheCause, quoting } from '../../harness/translated.ts';
import type { Faults } from './fault.ts';

const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

export const FAILING: Faults = {
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ list: untranslated.list }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ purge: quoting(untranslated.purge) }),
    caughtBy: FAILS,
  },
  'keeps the error of the driver as the cause': {
    wrong: (_correct, { untranslated }) => ({ countSince: keepingTheCause(untranslated.countSince) }),
    caughtBy: FAILS,
  },
  'says nothing of events that it could not add': {
    wrong: ({ add }) => ({ add: (events) => add(events).catch(() => undefined) }),
    caughtBy: FAILS,
  },
  'says nothing of refused log-ins that it could not count': {
    wrong: ({ addRefusedLogins }) => ({
      addRefusedLogins: (refusals) => addRefusedLogins(refusals).catch(() => undefined),
    }),
    caughtBy: FAILS,
  },
  'knows no device while its store is unavailable': {
    wrong: ({ knowsDevice }) => ({
      knowsDevice: (userId, device) => knowsDevice(userId, device).catch(() => false),
    }),
    caughtBy: FAILS,
  },
};
