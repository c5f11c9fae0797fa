import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aPerson } from '../support/http/service.ts';
import { runHere } from '../support/processes/commands.ts';
import { runService } from '../support/processes/process.ts';
import { postJson, signUpAt } from '../support/processes/sessions-under-load.ts';
import { onSqlite } from '../support/storage/databases.ts';
import { openDatabase } from '../support/storage/open-database.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';
import { openReceiver, signersOf } from '../support/webhook-receiver.ts';

/** Milliseconds; the time-out only catches hangs. */
const SOON = { timeout: 90_000, interval: 50 };

it('a service that is killed before a receiver has answered delivers after the next start, in order', async () => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const env = { DATA_DIR: path, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', BCRYPT_COST: '4' };
  const start = async () => {
    const service = await runService(env);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    return service;
  };
  const person = aPerson();
  let isUp = false;
  const { url, received } = await openReceiver((_request, response) => {
    if (isUp) response.writeHead(204).end();
  });

  const first = await start();
  const added = await runHere(['webhooks', 'add', url, '--json'], env);
  const { publicKey } = JSON.parse(added.stdout);
  const { username: account, password } = person;
  await signUpAt(first.url, person);
  await postJson(`${first.url}/auth/login`, { account, password });
  await expect.poll(() => received, SOON).toHaveLength(1);
  await first.stop('SIGKILL');

  // As after the lease.
  const { em, close } = await openDatabase(onSqlite(join(path, 'database.sqlite')), { migrate: false });
  await em.execute('update webhook_deliveries set next_attempt_at = 0 where next_attempt_at is not null');
  await close();
  isUp = true;
  await start();
  await expect.poll(() => received, SOON).toHaveLength(3);
  expect(received.map(({ json }) => [json.type, json.sequence])).toEqual([
    ['user.registered', 1],
    ['user.registered', 1],
    ['session.started', 2],
  ]);
  const ids = received.map(({ headers }) => headers['webhook-id']);
  expect(ids[0]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(2);
  expect(received.flatMap((each) => signersOf(each, [publicKey]))).toHaveLength(3);
});
