import { useState } from 'react';
import type { AuthClient, User } from 'tandem-client';
import { API } from './addresses.ts';
import { useAttempt } from './attempt.ts';
import { Sessions } from './sessions.tsx';

/** The page of a user who is logged in. */
export const AccountPage = ({ auth, user }: { auth: AuthClient; user: User }) => {
  const { problem, attempt } = useAttempt();
  const [answer, setAnswer] = useState('');
  const callApi = async () => {
    const response = await auth.fetch(API);
    setAnswer(`${response.status} ${await response.text()}`);
  };
  return (
    <main>
      <h1>Logged in as {user.username}</h1>
      <button type="button" onClick={() => attempt(callApi)}>
        Call the API
      </button>
      <button type="button" onClick={() => attempt(auth.logout)}>
        Log out
      </button>
      {problem && <p role="alert">{problem}</p>}
      <pre>{answer}</pre>
      <Sessions auth={auth} />
    </main>
  );
};
