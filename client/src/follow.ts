import type { AuthClient } from './types.ts';

/** Calls `onChange` whenever `auth.user` may have changed; after `ready` as well, since `auth.onChange` does not report that there is no session. */
export const follow = (auth: AuthClient, onChange: () => void): (() => void) => {
  auth.ready.then(onChange, onChange);
  return auth.onChange(onChange);
};
