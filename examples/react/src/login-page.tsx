import { useState } from 'react';
import type { AuthClient } from 'tandem-client';
import { EntryForm } from './entry-form.tsx';

export const LoginPage = ({ auth }: { auth: AuthClient }) => {
  const [isNew, setIsNew] = useState(false);
  return (
    <main>
      <h1>{isNew ? 'Register' : 'Log in'}</h1>
      {/* The key makes it another form, without the problems of the first. */}
      <EntryForm key={String(isNew)} auth={auth} isNew={isNew} />
      <button type="button" onClick={() => setIsNew(!isNew)}>
        {isNew ? 'I have an account' : 'I am new here'}
      </button>
    </main>
  );
};
