import { type Readable, readable } from 'svelte/store';
import { follow } from './follow.ts';
import type { AuthClient, User } from './types.ts';

/**
 * The user of a client, for Svelte: a store of `null` if nobody is logged in, and of `undefined` as long as that is not known. The store follows
 * the client, here or in another tab, as long as it has a subscriber.
 *
 * @example
 * const user = useAuth(auth); // $user in the markup
 */
export const useAuth = (auth: AuthClient): Readable<User | null | undefined> =>
  readable<User | null | undefined>(auth.user, (set) => {
    const update = () => set(auth.user);
    update();
    return follow(auth, update);
  });
