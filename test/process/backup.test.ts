import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { aPerson, cookiePair, currentUserOf, refreshCookieOf } from '../support/http/service.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

describe('a copy of the data directory', () => {
  const directory = temporaryDirectory();
  const original = join(directory.path, 'original');
  const backup = join(directory.path, 'backup');
  const person = aPerson();
  const running: RunningService[] = [];
  const start = async (dataDir: string): Promise<RunningService> => {
    const service = await runService({ DATA_DIR: dataDir });
    running.push(service);
    return service;
  };
  afterAll(async () => {
    for (const { stop } of running) await stop('SIGKILL');
    directory.remove();
  });

  const login = ({ url }: RunningService) =>
    documentedHttp(url).post('/auth/login').send({ account: person.email, password: person.password });
  const refresh = ({ url }: RunningService, cookie: string) =>
    documentedHttp(url).post('/auth/refresh-token').set('Cookie', cookie);

  it('restores users, sessions and keys, if the service was stopped', async () => {
    const first = await start(original);
    const { body, headers } = await documentedHttp(first.url).post('/auth/register').send(person);
    const registered = cookiePair(refreshCookieOf({ headers }));
    const rotated = cookiePair(refreshCookieOf(await refresh(first, registered)));
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    cpSync(original, backup, { recursive: true });
    rmSync(original, { recursive: true });

    const restored = await start(backup);
    const me = await documentedHttp(restored.url)
      .get('/users/me')
      .set('Authorization', `Bearer ${body.data.accessToken}`);
    expect(me.body.data).toEqual(currentUserOf(body.data.user));
    expect((await refresh(restored, rotated)).status).toBe(200);
    expect((await login(restored)).status).toBe(200);
  });
});
