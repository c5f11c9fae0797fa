import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openSession } from '../../examples/native-client/session.ts';
import { openStore } from '../../examples/native-client/store.ts';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { MINUTE } from '../support/application.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { witness } from '../support/browser/witness.ts';
import { eventsOf, serviceStarter } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';
import { freePort } from '../support/servers/free-port.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const REFRESH = '/auth/refresh-token';
const MAIN = join(import.meta.dirname, '../../examples/native-client/main.ts');

const start = serviceStarter();

/** A service behind a line that can lose a response, a user, and a file for the session. */
const openWorld = async () => {
  const directory = temporaryDirectory();
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  let passed = 0;
  const now = () => Date.now() + passed;
  const service = await start({ BASE_URL: baseUrl, JWT_BINDING: 'on' }, { storage: memoryStorage(), clock: { now } });
  const line = await witness(service.url, port);
  const person = aPerson();
  const { body } = await service.http.post('/auth/register').send(person).expect(201);
  const file = join(directory.path, 'session.json');
  return {
    ...{ service, baseUrl, line, person, file, now },
    userId: String(body.data.user.id),
    token: String(body.data.accessToken),
    /** The app, started anew. */
    app: () => openSession({ baseUrl, store: openStore(file) }),
    /** Time passes at the service. */
    pass: (milliseconds: number) => {
      passed += milliseconds;
    },
  };
};
type World = Awaited<ReturnType<typeof openWorld>>;

/** The service renews, and the app hears nothing of it. */
const loseRefresh = async ({ line }: World, app: ReturnType<World['app']>): Promise<void> => {
  const { arrived, lose } = line.hold(REFRESH);
  const lost = app.refresh();
  lost.catch(() => undefined);
  await arrived;
  lose();
  await expect(lost).rejects.toThrow('fetch failed');
};

const kindsOf = async ({ service, userId }: World) => (await eventsOf(service, userId)).map(({ kind }) => kind);

const sessionsOf = (app: ReturnType<World['app']>) => app.get<readonly object[]>('/auth/sessions');

describe('the client without a browser', () => {
  it.each([
    ['goes on', (_world: World, app: ReturnType<World['app']>) => app],
    ['is started anew', ({ app }: World) => app()],
  ])(
    'keeps its session when a response is lost and it %s a minute later, whatever its clock says',
    async (_title, next) => {
      const world = await openWorld();
      const { person, pass } = world;
      const app = world.app();
      expect(await app.logIn(person.username, person.password)).toMatchObject({ username: person.username });
      const [before] = (await sessionsOf(app)).filter((each) => 'binding' in each && each.binding === 'device');
      await loseRefresh(world, app);
      // The clock of the app is behind from now on, by more than a proof may be.
      pass(2 * MINUTE);
      const later = next(world, app);
      await later.refresh();
      expect(await later.get('/users/me')).toMatchObject({ username: person.username });
      expect(await sessionsOf(later)).toContainEqual(
        expect.objectContaining({ id: (before as { id: string }).id, binding: 'device', current: true }),
      );
      const kinds = await kindsOf(world);
      expect(kinds).not.toContain('session-ended');
      expect(kinds).not.toContain('device-unproven');
    },
  );

  it('keeps a file that is worth nothing without its key, and that nobody else can read', async () => {
    const { app, service, person, file } = await openWorld();
    await app().logIn(person.username, person.password);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { cookies } = JSON.parse(readFileSync(file, 'utf8'));
    const Cookie = `refresh_token=${cookies.refresh_token}`;
    const { body } = await service.http.post(REFRESH).set({ Cookie }).expect(401);
    expect(body.code).toBe('AUTH_DEVICE_UNPROVEN');
    expect(await app().get('/users/me')).toMatchObject({ username: person.username });
  });

  it('keeps the session when the service has no answer, and does not take a file that cannot be read for none', async () => {
    const { app, person, line, file } = await openWorld();
    const running = app();
    await running.logIn(person.username, person.password);
    const { arrived, lose } = line.hold('/users/me');
    const lost = running.get('/users/me');
    lost.catch(() => undefined);
    await arrived;
    lose();
    await expect(lost).rejects.toThrow('fetch failed');
    expect(await app().get('/users/me')).toMatchObject({ username: person.username });
    expect(() => openStore(join(file, 'below-a-file'))).toThrow('ENOTDIR');
  });

  it('is a program that logs in, asks for a second factor, calls the service and logs out', async () => {
    const { baseUrl, service, person, file, token, pass, now } = await openWorld();
    const run = async (args: readonly string[], input: readonly string[] = []) => {
      const env = { BASE_URL: baseUrl, SESSION_FILE: file };
      const running = promisify(execFile)(process.execPath, [MAIN, ...args], { env });
      running.child.stdin?.end(input.map((line) => `${line}\n`).join(''));
      return running.then(({ stdout }) => JSON.parse(stdout));
    };
    const Authorization = `Bearer ${token}`;
    const { body } = await service.http.post('/users/me/factors/totp').set({ Authorization }).expect(201);
    const { id, secret } = body.data;
    const confirmation = { id, code: codeAt(secret, now()) };
    await service.http.post('/users/me/factors/totp/confirm').set({ Authorization }).send(confirmation).expect(200);
    pass(MINUTE);
    await expect(run(['me'])).rejects.toThrow('AUTH_FAILED');
    const user = await run(['login', person.username], [person.password, codeAt(secret, now())]);
    expect(user).toMatchObject({ username: person.username });
    expect(await run(['me'])).toMatchObject({ username: person.username, secondFactor: true });
    expect(await run(['logout'])).toBeNull();
    await expect(run(['me'])).rejects.toThrow('AUTH_FAILED');
  });
});
