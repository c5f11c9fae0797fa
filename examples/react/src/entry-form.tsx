import { useActionState } from 'react';
import { type AuthClient, AuthError } from 'tandem-client';
import { Field } from './field.tsx';

type Entries = { readonly username: string; readonly email: string; readonly password: string };

/** An attempt without a user. React empties the form after an action, so it gets back what was typed, except the password. */
type Outcome = { readonly error: AuthError | null; readonly typed: Entries };

/** Logs in, or registers a new user. The rules for the fields are those of Tandem, which names each field that breaks one. */
export const EntryForm = ({ auth, isNew }: { auth: AuthClient; isNew: boolean }) => {
  const [outcome, submit, isPending] = useActionState(async (_last: Outcome | null, form: FormData) => {
    const { username = '', email = '', password = '' } = Object.fromEntries(form) as Partial<Entries>;
    const typed = { username, email, password };
    try {
      const user = await (isNew ? auth.register(typed) : auth.login({ account: username, password }));
      return user ? null : { error: null, typed };
    } catch (error) {
      if (error instanceof AuthError) return { error, typed };
      throw error;
    }
  }, null);
  const problemOf = (name: string) => outcome?.error?.fields.find(({ field }) => field === name)?.message;

  return (
    <form action={submit}>
      <Field
        label={isNew ? 'Username' : 'Username or email'}
        name="username"
        autoComplete="username"
        defaultValue={outcome?.typed.username}
        problem={problemOf(isNew ? 'username' : 'account')}
      />
      {isNew && (
        <Field
          label="Email"
          name="email"
          autoComplete="email"
          defaultValue={outcome?.typed.email}
          problem={problemOf('email')}
        />
      )}
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete={isNew ? 'new-password' : 'current-password'}
        problem={problemOf('password')}
      />
      {outcome && <p role="alert">{wordsOf(outcome)}</p>}
      <button type="submit" disabled={isPending}>
        {isNew ? 'Register' : 'Log in'}
      </button>
    </form>
  );
};

/** Where email addresses have to be verified, nobody is logged in before. */
const wordsOf = ({ error, typed }: Outcome): string => {
  if (error === null) return `Open the link in the email to ${typed.email}, then log in.`;
  return error.code === 'AUTH_EMAIL_UNVERIFIED'
    ? `${error.message} Open the link in the email that you got.`
    : error.message;
};
