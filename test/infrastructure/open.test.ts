import { expect, it, onTestFinished, vi } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { open } from '../../src/infrastructure/open.ts';
import { aPerson, hasher } from '../support/http/service.ts';
import { testKeys } from '../support/keys.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const config = { ...parseConfig({ NODE_ENV: 'test', LOG_LEVEL: 'fatal' }), keys: testKeys() };
const REFUSED = { code: 'AUTH_FAILED', status: 401 };

it('registers, logs in, refreshes and logs out without HTTP', async () => {
  const close = vi.fn();
  const auth = await open(config, { storage: memoryStorage(), ports: { hasher }, close });
  const person = aPerson();
  const { user } = await auth.register(person);
  await expect(auth.register(person)).rejects.toMatchObject({ code: 'AUTH_USER_DUPLICATE' });
  await expect(auth.logIn({ account: person.username, password: 'another' })).rejects.toMatchObject({
    code: 'AUTH_CREDENTIALS_INVALID',
  });
  const session = await auth.logIn({ account: person.email, password: person.password });
  if (!('refreshToken' in session)) expect.unreachable();
  expect(session.user).toEqual(user);
  const next = await auth.refresh(session.refreshToken);
  await expect(auth.refresh('not a token')).rejects.toMatchObject(REFUSED);
  await auth.logOut(next.refreshToken);
  await expect(auth.refresh(next.refreshToken)).rejects.toMatchObject(REFUSED);
  expect(close).not.toHaveBeenCalled();
  await auth.close();
  expect(close).toHaveBeenCalledOnce();
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
  onTestFinished(directory.remove);
  const inDirectory = {
    ...parseConfig({ NODE_ENV: 'test', LOG_LEVEL: 'fatal', DATA_DIR: directory.path }),
    keys: testKeys(),
  };
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
