import { useEffect, useState } from 'react';
import { AccountPage } from './account-page.tsx';
import { useAuth } from './auth.ts';
import { LoginPage } from './login-page.tsx';

export const App = () => {
  const { user } = useAuth();
  if (user === undefined) return <Restoring />;
  return user === null ? <LoginPage /> : <AccountPage user={user} />;
};

/** Shown until it is known whether there is a session. If that can't be found out, the client tries again by itself. */
const Restoring = () => {
  const { auth } = useAuth();
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    auth.ready.catch(({ message }: Error) => setProblem(message));
  }, [auth]);
  return <p role="status">{problem ?? 'Loading…'}</p>;
};
