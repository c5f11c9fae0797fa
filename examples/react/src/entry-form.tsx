import { useActionState } from 'react';
import { AuthError } from 'tandem-client';
import { useAuth } from './auth.ts';
import { Field } from './field.tsx';

type Entries = { readonly username: string; readonly email: string; readonly password: string };

/** An attempt that has failed. React empties the form after an action, so it gets back what was typed, except the password. */
type Failure = { readonly error: AuthError; readonly typed: Entries };

/** Logs in, or registers a new user. The rules for the fields are those of Tandem, which names each field that breaks one. */
export const EntryForm = ({ isNew }: { isNew: boolean }) => {
  const { auth } = useAuth();
  const [failure, submit, isPending] = useActionState(async (_last: Failure | null, form: FormData) => {
    const { username = '', email = '', password = '' } = Object.fromEntries(form) as Partial<Entries>;
    try {
      await (isNew ? auth.register({ username, email, password }) : auth.login({ account: username, password }));
      return null;
    } catch (error) {
      if (error instanceof AuthError) return { error, typed: { username, email, password } };
      throw error;
    }
  }, null);
  const problemOf = (name: string) => failure?.error.fields.find(({ field }) => field === name)?.message;

  return (
    <form action={submit}>
      <Field
        label={isNew ? 'Username' : 'Username or email'}
        name="username"
        autoComplete="username"
        defaultValue={failure?.typed.username}
        problem={problemOf(isNew ? 'username' : 'account')}
      />
      {isNew && (
        <Field
          label="Email"
          name="email"
          autoComplete="email"
          defaultValue={failure?.typed.email}
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
      {failure && <p role="alert">{failure.error.message}</p>}
      <button type="submit" disabled={isPending}>
        {isNew ? 'Register' : 'Log in'}
      </button>
    </form>
  );
};
