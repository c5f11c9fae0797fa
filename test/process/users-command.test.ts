import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/adapters/mikro-orm/open-database.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { EVENTS_KEPT } from '../../src/domain/event.ts';
import { anEvent, aUser } from '../support/builders.ts';
import { aPerson } from '../support/http/service.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { runHere, runSpawned, spawnCommand } from '../support/processes/commands.ts';
import { runService } from '../support/processes/process.ts';
import { onSqlite } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';
import { storeEvents } from '../support/stored-events.ts';

const directory = temporaryDirectory();

it('what npm run users changes beside the service is in its audit log, once', async () => {
  const env = { DATA_DIR: join(directory.path, 'walk'), BCRYPT_COST: '4', RESET_LINK_HAND_OVER: 'on' };
  const ada = aPerson();
  const service = await runService(env);
  await documentedHttp(service.url).post('/auth/register').send(ada).expect(201);
  const link = await runSpawned(['users', 'reset-link', ada.email, '--hand-over'], env);
  const [, token = ''] = /#token=([\w-]{43})/.exec(link.stdout) ?? [];
  expect(token).not.toBe('');
  expect(JSON.parse(link.stderr)).toMatchObject({ msg: 'account event', kind: 'password-link-handed-over' });
  expect(link.stderr).not.toContain(token);
  await service.stop();
  expect((await runHere(['users', 'disable', ada.email, '--yes', '--as', 'Una'], env)).status).toBe(0);

  /** The audit log of a service that starts, until it has a line of this kind. */
  const logged = async (kind: string | null) => {
    const running = await runService(env);
    const lines = () => running.stdout.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'account event');
    if (kind !== null)
      await vi.waitFor(() => expect(lines().map((line) => line.kind)).toContain(kind), { timeout: 60_000 });
    await running.stop();
    return lines();
  };
  const events = await logged('session-ended');
  expect(events.at(-2)).toMatchObject({ kind: 'disabled', actor: 'Una', at: expect.any(String) });
  expect(events.at(-1)).toMatchObject({ kind: 'session-ended', reason: 'operator', actor: 'Una' });
  expect(await logged(null)).toEqual([]);
});

describe('the output of npm run users', () => {
  const env = { DATA_DIR: join(directory.path, 'many') };
  const user = aUser();
  /** More than a pipe holds, and more than a page of events. */
  const fill = async () => {
    const { records, close } = await openDatabase(onSqlite(join(env.DATA_DIR, 'database.sqlite')), { migrate: true });
    const stores = storageOver(records);
    await stores.users.add(user);
    await storeEvents(
      stores,
      Array.from({ length: EVENTS_KEPT }, () => anEvent({ userId: user.id, userAgent: 'A phone' })),
    );
    await close();
  };

  it('has all events, and may be closed before its end, as by head; a full disk is a failure', async () => {
    await fill();
    const RANGE = ['--since', '2020-01-01'];
    for (const args of [['export'], ['events', ...RANGE, '--json']]) {
      const { status, stdout } = await runSpawned(['users', ...args, user.id], env);
      expect([status, JSON.parse(stdout).events.length]).toStrictEqual([0, EVENTS_KEPT]);
    }
    const { child, stderr, outcome } = spawnCommand(['users', 'export', user.id], env);
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect([await outcome, stderr]).toStrictEqual([{ code: 0, signal: null }, []]);
    if (!existsSync('/dev/full')) return;
    const full = ['/bin/sh', '-c', 'exec "$@" >/dev/full', 'sh'];
    expect(await runSpawned(['users', 'export', user.id], env, full)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^The output could not be written: ENOSPC/),
    });
    // For the doctor, 1 is an installation with a problem.
    expect(await runSpawned(['doctor'], env, full)).toMatchObject({ status: 2 });
  });

  it('reports invalid arguments to programs, too', async () => {
    const { status, stdout } = await runSpawned(['users', 'find', '--json']);
    const error = { code: 'arguments', message: 'Expected: npx tandem users find USER [--json]' };
    expect([status, JSON.parse(stdout)]).toStrictEqual([2, { error }]);
  });
});
