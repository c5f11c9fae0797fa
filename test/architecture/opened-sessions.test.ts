import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';

const FOLDERS = ['sessions', 'login', 'factors', 'accounts'].map((subject) => `src/application/${subject}`);
/** The steps that open, replace or raise a session. */
const STEPS = ['prepareSession', 'storeSession', 'replaceSession', 'raiseSession'];

/** What the user shows in each use case. A new one is added here together with what it takes as proof. */
const SHOWN: Readonly<Record<string, string>> = {
  'change-password.ts': 'the current password; the rest is that of the session which is replaced',
  'confirm-email-change.ts': 'nothing: the session which is replaced has shown it',
  'finish-login.ts': 'the password, and a second factor',
  'log-in-with-passkey.ts': 'a passkey',
  'login.ts': 'the password',
  'manage-factors.ts': 'the first code of an authenticator app',
  'manage-sessions.ts': 'nothing: the session which is replaced has shown it',
  'register.ts': 'the registration',
  'step-up.ts': 'the password, or a second factor',
  'store-login.ts': 'what the log-in has shown',
};

describe('a session', () => {
  it('is opened or raised by these use cases alone', () => {
    const files = FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => ({ name, path: `${folder}/${name}` })));
    const users = files.filter(
      ({ name, path }) => name !== 'open-session.ts' && STEPS.some((step) => readText(path).includes(`${step}(`)),
    );
    expect(users.map(({ name }) => name).toSorted()).toEqual(Object.keys(SHOWN));
  });

  it('is added to the store by one step', () => {
    const adding = FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`)).filter((path) =>
      /sessions\.add\(/.test(readText(path)),
    );
    expect(adding).toEqual(['src/application/sessions/open-session.ts']);
  });
});
