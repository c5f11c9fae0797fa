import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { aPerson } from '../support/http/service.ts';
import { runService } from '../support/processes/process.ts';
import { type Holder, postJson, signUpAt } from '../support/processes/sessions-under-load.ts';
import { faultsOf } from '../support/storage/sqlite-file.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** How often the service is killed. */
const MOMENTS = 3;
const CLIENTS = 4;
/** Milliseconds of load before the service is killed, at most. */
const LONGEST = 400;

type Person = ReturnType<typeof aPerson>;
/** What was acknowledged to a client, who does one thing at a time. */
type Acknowledged = {
  readonly people: Person[];
  /** Those whose last request was answered. */
  readonly holders: Set<Holder>;
};

describe('a service over a file of SQLite that is killed at any moment', () => {
  const directory = temporaryDirectory();
  const start = () => runService({ DATA_DIR: directory.path, BCRYPT_COST: '4', RATE_LIMITS: 'off', LOG_LEVEL: 'info' });

  /** Registers and refreshes until the service is gone. */
  const keepBusy = async (url: string, { people, holders }: Acknowledged): Promise<void> => {
    for (;;) {
      const person = aPerson();
      const holder = await signUpAt(url, person).catch(() => null);
      if (holder === null) return;
      people.push(person);
      holders.add(holder);
      for (const each of [...holders].slice(-3)) {
        holders.delete(each);
        const answer = await each.refresh(url).catch(() => null);
        if (answer === null) return;
        expect(answer.status).toBe(200);
        holders.add(each);
      }
    }
  };

  it('loses nothing that it has acknowledged, and its file is sound', async () => {
    let service = await start();
    let count = 0;
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const clients = Array.from({ length: CLIENTS }, (): Acknowledged => ({ people: [], holders: new Set() }));
      const busy = clients.map((client) => keepBusy(service.url, client));
      await Promise.race([...busy, expect.poll(() => clients.some(({ holders }) => holders.size > 0)).toBe(true)]);
      await pause(LONGEST * Math.random());
      await service.stop('SIGKILL');
      await Promise.all(busy);

      service = await start();
      expect(faultsOf(join(directory.path, 'database.sqlite'))).toEqual([]);
      for (const { people, holders } of clients) {
        for (const { refresh } of holders) expect((await refresh(service.url)).status).toBe(200);
        for (const { username: account, password } of people)
          expect((await postJson(`${service.url}/auth/login`, { account, password })).status).toBe(200);
        count += people.length + holders.size;
      }
    }
    await service.stop();
    expect(count).toBeGreaterThan(MOMENTS);
  });
});
