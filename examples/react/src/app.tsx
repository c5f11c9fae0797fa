import { type ComponentType, useEffect, useState } from 'react';
import type { AuthClient } from 'tandem-client';
import { useAuth } from 'tandem-client/react';
import { AccountPage } from './account-page.tsx';

type Props = { auth: AuthClient };

/** Log-in, registration, forgotten passwords, second factors and passkeys are pages of Tandem. */
export const LogInButton = ({ auth }: Props) => (
  <button type="button" onClick={() => auth.logInAt()}>
    Log in
  </button>
);

export const App = ({ auth, LogIn }: Props & { LogIn: ComponentType<Props> }) => {
  const user = useAuth(auth);
  if (user === undefined) return <Restoring auth={auth} />;
  return user === null ? <LogIn auth={auth} /> : <AccountPage auth={auth} user={user} />;
};

/** Shown until it is known whether there is a session. If that can't be found out, the client tries again by itself. */
const Restoring = ({ auth }: Props) => {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    auth.ready.catch(({ message }: Error) => setProblem(message));
  }, [auth]);
  return <p role="status">{problem ?? 'Loading…'}</p>;
};
