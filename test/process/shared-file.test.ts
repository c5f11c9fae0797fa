import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { tokensOf } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { documentedHttp, type Http } from '../support/openapi/documented-http.ts';
import { DEVELOPMENT } from '../support/processes/environments.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';
import { tally } from '../support/tally.ts';

/** Long enough for the whole time in which a service waits for another process. */
const ENV = { ...DEVELOPMENT, RATE_LIMITS: 'off', REQUEST_TIMEOUT_MS: '60000' };

describe('two services on one file', () => {
  const directory = temporaryDirectory();
  const file = join(directory.path, 'database.sqlite');
  const services: (RunningService & { readonly http: Http })[] = [];
  const at = (number: number) => services[number % 2] ?? expect.unreachable();
  beforeAll(async () => {
    const start = () => runService({ ...ENV, DATA_DIR: directory.path });
    for (const service of await Promise.all([start(), start()]))
      services.push({ ...service, http: documentedHttp(service.url) });
  });

  const register = (number: number, person: object) => at(number).http.post('/auth/register').send(person);
  const refresh = (number: number, cookie: string) => at(number).http.post('/auth/refresh-token').set('Cookie', cookie);
  /** Another process writes, until `end` is called. */
  const write = () => {
    const database = new DatabaseSync(file);
    database.exec('begin immediate');
    return {
      end: () => {
        database.exec('commit');
        database.close();
      },
    };
  };

  it('that start at the same time on an empty directory are ready, and the file is private', async () => {
    for (const number of [0, 1]) {
      const { body } = await at(number).http.get('/health/ready').expect(200);
      expect(body.data).toMatchObject({ status: 'ready', checks: { database: 'up' } });
    }
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('read while another process writes, and write when it has ended', async () => {
    const { accessToken } = tokensOf(await register(0, aPerson()).expect(201));
    const writing = write();
    const registering = register(1, aPerson()).then((response) => response);
    for (const number of [0, 1])
      await at(number).http.get('/users/me').set('Authorization', `Bearer ${accessToken}`).expect(200);
    writing.end();
    expect((await registering).status).toBe(201);
  });

  it('respond with a retryable error before the request times out, if another process writes all the time', async () => {
    const { cookie } = tokensOf(await register(0, aPerson()).expect(201));
    const writing = write();
    try {
      const responses = await Promise.all([register(0, aPerson()), refresh(1, cookie)]);
      expect(tally(responses)).toEqual({ '500 DB_QUERY_FAILED': 2 });
      expect(at(0).stdout.join('\n')).toContain('SQLite 5 (database is locked)');
    } finally {
      writing.end();
    }
    await refresh(0, cookie).expect(200);
    await register(1, aPerson()).expect(201);
  });
});
