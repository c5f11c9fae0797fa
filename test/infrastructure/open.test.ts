import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import type { RegistrationRequest } from '../../src/application/ports/hooks.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { open } from '../../src/infrastructure/open.ts';
import { codeBelow } from '../support/checkout/documented-code.ts';
import { ROOT } from '../support/checkout/repository.ts';
import { aPerson, hasher } from '../support/http/service.ts';
import { testKeys } from '../support/keys.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const configOf = (env: Readonly<Record<string, string>>) =>
  parseConfig({ NODE_ENV: 'test', LOG_LEVEL: 'fatal', ...env });
const config = { ...configOf({}), keys: testKeys() };
const REFUSED = { code: 'AUTH_FAILED', status: 401 };

it('registers, logs in, refreshes and logs out without HTTP', async () => {
  const close = vi.fn();
  const auth = await open(config, { storage: memoryStorage(), ports: { hasher }, close });
  const person = aPerson();
  const registered = await auth.register(person);
  await expect(auth.register(person)).rejects.toMatchObject({ code: 'AUTH_USER_DUPLICATE' });
  await expect(auth.logIn({ account: person.username, password: 'another' })).rejects.toMatchObject({
    code: 'AUTH_CREDENTIALS_INVALID',
  });
  const session = await auth.logIn({ account: person.email, password: person.password });
  if (!('refreshToken' in session)) expect.unreachable();
  expect(registered).toMatchObject({ user: session.user });
  const next = await auth.refresh(session.refreshToken);
  await expect(auth.refresh('not a token')).rejects.toMatchObject(REFUSED);
  await auth.logOut(next.refreshToken);
  await expect(auth.refresh(next.refreshToken)).rejects.toMatchObject(REFUSED);
  expect(close).not.toHaveBeenCalled();
  await auth.close();
  expect(close).toHaveBeenCalledOnce();
});

it.each([
  ['fields that are not valid', {}, { email: 'nobody' }, 'CLIENT_PARAMS_VALIDATION_FAILED'],
  ['a registration that is closed', { REGISTRATION: 'closed' }, {}, 'AUTH_REGISTRATION_CLOSED'],
  ['an address of another domain', { REGISTRATION_DOMAINS: 'example.net' }, {}, 'AUTH_REGISTRATION_REFUSED'],
  ['what a hook refuses', {}, { extra: { captcha: 'wrong' } }, 'AUTH_REGISTRATION_REFUSED'],
])('refuses %s, as the API does', async (_what, env, changed, code) => {
  const beforeRegister = ({ extra }: RegistrationRequest) =>
    ({ decision: extra.captcha === 'wrong' ? 'refuse' : 'allow' }) as const;
  const overrides = { storage: memoryStorage(), ports: { hasher }, hooks: { beforeRegister } };
  const auth = await open({ ...configOf(env), keys: testKeys() }, overrides);
  onTestFinished(auth.close);
  await expect(auth.register({ ...aPerson(), ...changed })).rejects.toMatchObject({ code });
});

it.each([
  ['a verified address', { EMAIL_VERIFICATION: 'required' }, null, { code: 'AUTH_EMAIL_UNVERIFIED' }],
  ['a second factor', { SECOND_FACTOR: 'required' }, { pendingLogin: expect.any(String) }, null],
])('opens no session where %s is required first', async (_what, env, registered, refused) => {
  const auth = await open({ ...configOf(env), keys: testKeys() }, { storage: memoryStorage(), ports: { hasher } });
  onTestFinished(auth.close);
  const person = aPerson();
  expect(await auth.register(person)).toEqual(registered);
  const entering = auth.logIn({ account: person.username, password: person.password });
  if (refused === null) expect(await entering).toEqual(registered);
  else await expect(entering).rejects.toMatchObject(refused);
});

it('works in the lines of the documentation', () => {
  const directory = temporaryDirectory();
  const lines = codeBelow('docs/own-store.md', 'In memory, for tests of applications', 'ts')[1] ?? expect.unreachable();
  const program = join(directory.path, 'program.ts');
  writeFileSync(program, lines.replace("'tandem'", `'${ROOT}src/index.ts'`));
  expect(lines).toContain('auth.refresh');
  execFileSync('node', [program], { cwd: directory.path, stdio: ['ignore', 'ignore', 'pipe'] });
});

it('closes what was opened when it cannot start', async () => {
  const close = vi.fn();
  const routes = () => {
    throw new Error('a mistake of the application');
  };
  await expect(open(config, { storage: memoryStorage(), routes, close })).rejects.toThrow('a mistake');
  expect(close).toHaveBeenCalledOnce();
});

it('changes one repository, and keeps the database, with a function of the storage', async () => {
  const directory = temporaryDirectory();
  const inDirectory = { ...configOf({ DATA_DIR: directory.path }), keys: testKeys() };
  const [person, asked] = [aPerson(), vi.fn()];
  const first = await open(inDirectory, { ports: { hasher } });
  await first.register(person);
  await first.close();
  const second = await open(inDirectory, {
    ports: { hasher },
    storage: (defaults) => ({
      ...defaults,
      users: {
        ...defaults.users,
        findByUsername: (name) => {
          asked(name);
          return defaults.users.findByUsername(name);
        },
      },
    }),
  });
  await second.logIn({ account: person.username, password: person.password });
  expect(asked).toHaveBeenCalledOnce();
  await second.close();
  const mistaken = () => {
    throw new Error('a mistake of the application');
  };
  await expect(open(inDirectory, { storage: mistaken })).rejects.toThrow('a mistake');
});
