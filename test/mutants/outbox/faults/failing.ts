import { keepingTheCause, quoting } from '../../harness/translated.ts';
import type { Faults } from './fault.ts';

const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

export const FAILING: Faults = {
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ waiting: untranslated.waiting }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ listByUser: quoting(untranslated.listByUser) }),
    caughtBy: FAILS,
  },
  'keeps the error of the driver as the cause': {
    wrong: (_correct, { untranslated }) => ({ claim: keepingTheCause(untranslated.claim) }),
    caughtBy: FAILS,
  },
  'says nothing of messages that it could not add': {
    wrong: ({ add }) => ({ add: (messages) => add(messages).catch(() => false) }),
    caughtBy: FAILS,
  },
  'claims nothing while its store is unavailable': {
    wrong: ({ claim }) => ({ claim: (asked) => claim(asked).catch(() => []) }),
    caughtBy: FAILS,
  },
};
