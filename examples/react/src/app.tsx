import { useEffect, useState } from 'react';
import type { AuthClient } from 'tandem-client';
import { useAuth } from 'tandem-client/react';
import { AccountPage } from './account-page.tsx';
import { LoginPage } from './login-page.tsx';

export const App = ({ auth }: { auth: AuthClient }) => {
  const user = useAuth(auth);
  if (user === undefined) return <Restoring auth={auth} />;
  return user === null ? <LoginPage auth={auth} /> : <AccountPage auth={auth} user={user} />;
};

/** Shown until it is known whether there is a session. If that can't be found out, the client tries again by itself. */
const Restoring = ({ auth }: { auth: AuthClient }) => {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    auth.ready.catch(({ message }: Error) => setProblem(message));
  }, [auth]);
  return <p role="status">{problem ?? 'Loading…'}</p>;
};
