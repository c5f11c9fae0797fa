import { asking, errorWith, type Fault, parsed, REFRESH, REGISTER } from './alterations.ts';
import type { Asked, Behavior } from './faulty-server.ts';
import { repeatingRefreshes } from './of-the-specification.ts';

const isRefresh = (asked: Asked): boolean => `${asked.method} ${asked.path}` === REFRESH;
const isProven = (asked: Asked): boolean => isRefresh(asked) && asked.body !== '';

/** Drops the proofs of these requests. */
const ignoringProofs = (to: string) =>
  asking((asked) => {
    if (`${asked.method} ${asked.path}` !== to || asked.body === '') return asked;
    const { proof: _, ...rest } = parsed(asked.body);
    return { ...asked, body: JSON.stringify(rest) };
  });

/** Refuses a cookie that it has seen before, whatever the proof. */
const refusingOldTokens = (): Behavior => {
  const seen = new Set<string | undefined>();
  return async (asked, forward) => {
    if (!isProven(asked)) return forward(asked);
    if (seen.has(asked.headers.cookie)) return errorWith(401, 'AUTH_FAILED');
    seen.add(asked.headers.cookie);
    return forward(asked);
  };
};

/** Refuses every refresh after one that it has refused. */
const endingSessions = (): Behavior => {
  let isEnded = false;
  return async (asked, forward) => {
    if (!isRefresh(asked)) return forward(asked);
    const answered = isEnded ? errorWith(401, 'AUTH_FAILED') : await forward(asked);
    isEnded ||= answered.status === 401;
    return answered;
  };
};

/** Answers a proof that is refused with the tokens of the last refresh. */
const acceptingAnyProof = (): Behavior => {
  const repeating = repeatingRefreshes();
  return (asked, forward) => (isProven(asked) ? repeating(asked, forward) : forward(asked));
};

/** Wrong servers, at least one for each check of sessions that are bound to a device. */
export const DEVICE_FAULTS: readonly Fault[] = [
  {
    caughtBy: 'device-refresh',
    expected: 'a status of 2xx',
    what: 'the proofs of refreshes are not read',
    behavior: ignoringProofs(REFRESH),
  },
  {
    caughtBy: 'device-lost-response',
    expected: 'a status of 2xx',
    what: 'an old token is refused with a proof, too',
    behavior: refusingOldTokens,
  },
  {
    caughtBy: 'device-copied-cookie',
    expected: '401 AUTH_DEVICE_UNPROVEN',
    what: 'a registration with a proof binds no session',
    behavior: ignoringProofs(REGISTER),
  },
  {
    caughtBy: 'device-copied-cookie',
    expected: '401 AUTH_DEVICE_UNPROVEN',
    what: 'a proof of any key is one',
    behavior: acceptingAnyProof,
  },
  {
    caughtBy: 'device-copied-cookie',
    expected: 'a status of 2xx',
    what: 'a copied cookie ends the session',
    behavior: endingSessions,
  },
  {
    caughtBy: 'device-used-proof',
    expected: '401 AUTH_PROOF_EXPIRED',
    what: 'a proof works again',
    behavior: acceptingAnyProof,
  },
];
