import type { AskClaims, ClaimsSession, ClaimsUser, Hooks, ObserveHook } from '../../application/ports/hooks.ts';
import { assertFit, readAttributes } from '../../domain/attributes.ts';
import { bounded } from './bounded.ts';

/** Milliseconds: every refresh waits for it. */
const ANSWER_TIMEOUT = 500;
/** With the attributes of the user, as JSON: the token still fits into a cookie. */
const MAX_BYTES = 2_048;

type Asked = readonly [user: ClaimsUser, session: ClaimsSession];

/** The hook of access tokens. Its answer is merged over the attributes of the user. */
export const boundedClaims = (hook: NonNullable<Hooks['claims']>, observe: ObserveHook): AskClaims => {
  const ask = ([user, session]: Asked) => hook(user, session);
  const read = (given: unknown, [user]: Asked) => {
    const answer = readAttributes(JSON.stringify(given), MAX_BYTES);
    return assertFit({ ...user.attributes, ...answer }, MAX_BYTES);
  };
  const asked = bounded({ name: 'claims', timeout: ANSWER_TIMEOUT, hook: ask, read }, observe);
  return (user, { id, amr, authenticatedAt, knownAt, heldAt }) => {
    const { username, email, locale, attributes } = user;
    return asked([
      { id: user.id, username, email, emailVerified: user.emailVerifiedAt !== null, locale, attributes },
      { id, amr, authenticatedAt, knownAt, heldAt },
    ]);
  };
};
