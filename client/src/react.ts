import { useCallback, useSyncExternalStore } from 'react';
import { follow } from './follow.ts';
import type { AuthClient, User } from './types.ts';

/**
 * The user of a client, for React: `null` if nobody is logged in, `undefined` as long as that is not known, for example on a server. The component
 * is rendered again when the user changes, here or in another tab.
 *
 * @example
 * const user = useAuth(auth);
 */
export const useAuth = (auth: AuthClient): User | null | undefined =>
  useSyncExternalStore(
    useCallback((onChange: () => void) => follow(auth, onChange), [auth]),
    () => auth.user,
    () => undefined,
  );
