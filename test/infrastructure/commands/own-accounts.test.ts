import { expect, it, vi } from 'vitest';
import type { Storage } from '../../../src/application/ports/unit-of-work.ts';
import { manageUsers } from '../../../src/infrastructure/commands/manage-users.ts';
import { runUsers } from '../../../src/infrastructure/commands/users.ts';
import { anEvent, aSession, aUser } from '../../support/builders.ts';
import { memoryStores } from '../../support/memory/stores.ts';

/** There is no database at this place. */
const ENV = { NODE_ENV: 'test', LOG_LEVEL: 'silent', DATA_DIR: '/nonexistent' };

/** The command over a storage of the caller's own, and what it prints. */
const run = async (args: readonly string[], storage: Storage) => {
  const [printed, warned]: [string[], string[]] = [[], []];
  const print = async (text: string) => void printed.push(text);
  const status = await runUsers(args, ENV, { ask: null, print, warn: (text) => void warned.push(text) }, { storage });
  return { status, output: printed.join(''), errors: warned.join('') };
};

const stored = async () => {
  const stores = memoryStores();
  const user = aUser();
  await stores.users.add(user);
  await stores.sessions.add(aSession({ userId: user.id }));
  await stores.events.add([anEvent({ userId: user.id, kind: 'logged-in' })]);
  return { stores, user };
};

it('users of one’s own are found, shown, changed and deleted, without a database of the service', async () => {
  const { stores, user } = await stored();
  const listed = await run(['events', user.username, '--json'], stores);
  expect(listed).toMatchObject({ status: 0, errors: '' });
  expect(JSON.parse(listed.output).events).toMatchObject([{ kind: 'logged-in' }]);
  expect((await run(['disable', user.email, '--yes'], stores)).output).toMatch(/is disabled; 1 session ended/);
  expect(await stores.users.findById(user.id)).toMatchObject({ disabledAt: expect.any(Number) });
  expect((await run(['events', user.username], stores)).output).toMatch(/disabled/);
  expect((await run(['delete', user.id, '--yes'], stores)).status).toBe(0);
  expect(await stores.users.findById(user.id)).toBeNull();
});

it('the stores of the caller are closed once, also when the command fails', async () => {
  const close = vi.fn();
  expect(await manageUsers(['find', 'nobody'], ENV, { storage: memoryStores(), close })).toBe(3);
  expect(close).toHaveBeenCalledOnce();
});
