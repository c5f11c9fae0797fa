import { useState } from 'react';
import type { AuthClient, User } from 'tandem-client';
import { API } from './addresses.ts';

/** The page of a user who is logged in. Name, email, password, sessions, passkeys and second factors are pages of Tandem. */
export const AccountPage = ({ auth, user }: { auth: AuthClient; user: User }) => {
  const [said, setSaid] = useState('');
  const attempt = (action: () => Promise<string>) => action().then(setSaid, ({ message }: Error) => setSaid(message));
  const callApi = async () => {
    const response = await auth.fetch(API);
    return `${response.status} ${await response.text()}`;
  };
  return (
    <main>
      <h1>Logged in as {user.username}</h1>
      <a href={auth.linkTo('account')}>Settings</a>{' '}
      <button type="button" onClick={() => attempt(callApi)}>
        Call the API
      </button>{' '}
      <button type="button" onClick={() => attempt(() => auth.logout().then(() => ''))}>
        Log out
      </button>
      <pre role="status">{said}</pre>
    </main>
  );
};
