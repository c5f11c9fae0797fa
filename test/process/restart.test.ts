// Proves SPEC 2.10; operator-3
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aPerson, cookiePair, currentUserOf, refreshCookieOf } from '../support/http/service.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

describe('the service on its file of SQLite', () => {
  const directory = temporaryDirectory();
  const env = { DATA_DIR: directory.path };
  /** Starts where the umask lets others read what is made. */
  const startLax = () => runService(env, ['bash', '-c', 'umask 0; exec "$@"', 'lax']);
  const person = aPerson();
  let service: RunningService | undefined;

  const login = ({ url }: RunningService) =>
    documentedHttp(url).post('/auth/login').send({ account: person.email, password: person.password });

  it('starts on an empty directory, and keeps users, sessions and keys over a restart', async () => {
    chmodSync(directory.path, 0o755);
    service = await startLax();
    const registered = await documentedHttp(service.url).post('/auth/register').send(person);
    expect(registered.status).toBe(201);
    const cookie = cookiePair(refreshCookieOf(registered));
    expect(await service.stop()).toEqual({ code: 0, signal: null });

    service = await startLax();
    const me = await documentedHttp(service.url)
      .get('/users/me')
      .set('Authorization', `Bearer ${registered.body.data.accessToken}`);
    expect(me.body.data).toEqual(currentUserOf(registered.body.data.user));
    const refreshed = await documentedHttp(service.url).post('/auth/refresh-token').set('Cookie', cookie);
    expect(refreshed.status).toBe(200);
    expect((await login(service)).status).toBe(200);
  });

  it('writes files that only its user can read, whatever the umask', async () => {
    const running = service ?? (await startLax());
    service = undefined;
    await running.stop();
    const modes = readdirSync(directory.path, { recursive: true }).map(
      (name) => statSync(join(directory.path, String(name))).mode,
    );
    expect(modes.length).toBeGreaterThan(3);
    expect(modes.filter((mode) => (mode & 0o077) !== 0)).toEqual([]);
    expect(statSync(directory.path).mode & 0o777).toBe(0o700);
  });
});
