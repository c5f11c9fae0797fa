import { createContext, use, useCallback, useSyncExternalStore } from 'react';
import type { AuthClient, User } from 'tandem-client';

export const AuthContext = createContext<AuthClient | null>(null);

type Auth = {
  readonly auth: AuthClient;
  /** `null`: nobody is logged in; `undefined`: not known yet. */
  readonly user: User | null | undefined;
};

/** The client, and its user. A component that uses it is rendered again when the user changes, here or in another tab. */
export const useAuth = (): Auth => {
  const auth = use(AuthContext);
  if (auth === null) throw new Error('useAuth needs an AuthContext around it.');
  const subscribe = useCallback(
    (onStoreChange: () => void) => {
      // That nobody is logged in at the beginning is reported by `ready`, not to listeners.
      auth.ready.then(onStoreChange, onStoreChange);
      return auth.onChange(onStoreChange);
    },
    [auth],
  );
  const user = useSyncExternalStore(subscribe, () => auth.user);
  return { auth, user };
};
