// Proves SPEC 2.10; ASVS 16.2.3; operator-3
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { aPerson, cookiePair, currentUserOf, refreshCookieOf } from '../support/http/service.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { startCollector } from '../support/servers/collector.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

describe('the service on its file of SQLite', () => {
  const directory = temporaryDirectory();
  const env = { DATA_DIR: directory.path };
  /** Starts where the umask lets others read what is made. */
  const startLax = () => runService(env, ['bash', '-c', 'umask 0; exec "$@"', 'lax']);
  const person = aPerson();
  let service: RunningService | undefined;
  afterAll(async () => {
    await service?.stop('SIGKILL');
  });

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

  it('ends when it is told to, although a collector never ends its answer', async () => {
    await service?.stop();
    const collector = await startCollector();
    collector.answers('slowly');
    service = await runService({ ...env, ...collector.env });
    await fetch(`${service.url}/errors`);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    service = undefined;
  });

  it('logs one line of JSON for each request, with the id that the client received', async () => {
    service ??= await runService({ ...env, LOG_LEVEL: 'debug' });
    const response = await documentedHttp(service.url).get('/errors').set('svc-request-id', 'from-the-client');
    expect(response.headers['svc-request-id']).toBe('from-the-client');
    await service.stop();
    const lines = service.stdout.map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.filter(({ requestId }) => requestId === 'from-the-client')).toMatchObject([
      { msg: 'request answered', route: 'errors', status: 200 },
    ]);
  });
});
