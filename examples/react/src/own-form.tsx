import { type ComponentProps, useActionState, useState } from 'react';
import { type AuthClient, AuthError } from 'tandem-client';
import { mount } from './mount.tsx';

/** The second way: a form of the application's own, which logs in and registers. All else is its own then, too. */

type FieldProps = ComponentProps<'input'> & { name: string; label: string; problem: string | undefined };

/** An input with its label, and what is wrong with its value. */
const Field = ({ label, problem, ...input }: FieldProps) => {
  const id = `${input.name}-problem`;
  return (
    <p>
      <label>
        {label} <input {...input} aria-invalid={problem !== undefined} aria-describedby={id} />
      </label>{' '}
      <small id={id}>{problem}</small>
    </p>
  );
};

type Entries = { readonly username: string; readonly email: string; readonly password: string };

/** An attempt without a user. React empties the form after an action, so it gets back what was typed, except the password. */
type Outcome = { readonly error: AuthError | null; readonly typed: Entries };

/** Logs in, or registers a new user. The rules for the fields are those of Tandem, which names each field that breaks one. */
const EntryForm = ({ auth, isNew }: { auth: AuthClient; isNew: boolean }) => {
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

const OwnForm = ({ auth }: { auth: AuthClient }) => {
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

mount(OwnForm);
