import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { aPerson } from '../support/http/service.ts';
import { runService } from '../support/processes/process.ts';
import { ask, postJson, signUpAt } from '../support/processes/sessions-under-load.ts';
import { canMakeDisks, smallDisk } from '../support/storage/small-disk.ts';
import { faultsOf } from '../support/storage/sqlite-file.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Milliseconds; the time-out only catches hangs. */
const SOON = { timeout: 60_000, interval: 50 };
/** More than the pages that the log of SQLite may have left from before. */
const ATTEMPTS = 2_000;

const start = async () => {
  const disk = smallDisk('4m');
  const data = temporaryDirectory();
  const env = {
    DATABASE_URL: `sqlite:${disk.path}/database.sqlite`,
    DATA_DIR: data.path,
    BCRYPT_COST: '4',
    RATE_LIMITS: 'off',
  };
  const service = await runService(env, disk.wrap);
  const { pid } = service.child;
  /** What is wrong with a copy of the file as it is now. */
  const faults = () => {
    cpSync(disk.seenFrom(pid), data.path, { recursive: true });
    return faultsOf(join(data.path, 'database.sqlite'));
  };
  return { url: service.url, fill: () => disk.fill(pid), makeRoom: () => disk.makeRoom(pid), faults };
};

it.runIf(canMakeDisks())(
  'while the disk of the file of SQLite is full what writes fails with DB_QUERY_FAILED, nothing is lost or corrupt, and it goes on when there is room',
  async () => {
    const { url, fill, makeRoom, faults } = await start();
    const people = [aPerson(), aPerson(), aPerson()];
    const holders = [];
    for (const person of people) holders.push(await signUpAt(url, person));

    fill();
    const register = async () => {
      const person = aPerson();
      const answer = await postJson(`${url}/auth/register`, person);
      if (answer.status === 201) people.push(person);
      return answer;
    };
    let refused = await register();
    for (let attempt = 0; attempt < ATTEMPTS && refused.status === 201; attempt += 1) refused = await register();
    expect(refused).toMatchObject({ status: 500, code: 'DB_QUERY_FAILED' });
    for (const { refresh } of holders)
      expect(await refresh(url)).toMatchObject({ status: 500, code: 'DB_QUERY_FAILED', cookie: undefined });
    expect((await ask(`${url}/health/live`)).status).toBe(200);

    makeRoom();
    for (const { refresh } of holders)
      await vi.waitFor(async () => expect((await refresh(url)).status).toBe(200), SOON);
    expect((await register()).status).toBe(201);
    for (const { username: account, password } of people)
      expect((await postJson(`${url}/auth/login`, { account, password })).status).toBe(200);
    expect(faults()).toEqual([]);
  },
);
