import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { factorSecrets } from '../../../src/adapters/crypto/secrets.ts';
import type { Check } from '../../../src/adapters/http/request/settings.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { Overrides } from '../../../src/infrastructure/compose/ports.ts';
import { compose } from '../../../src/infrastructure/compose.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { createLogger } from '../../../src/infrastructure/logging/log.ts';
import { serve } from '../../../src/infrastructure/serve.ts';
import { aUser } from '../../support/builders.ts';
import { factorKeys } from '../../support/factor-keys.ts';
import { testKeys } from '../../support/keys.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { PRODUCTION } from '../../support/processes/environments.ts';
import { freePort } from '../../support/servers/free-port.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type Env = Readonly<Record<string, string>>;

/** A service with parts of the test's own, in a directory of its own, and the messages of its log. */
const composed = async (own: Overrides, env: Env = {}) => {
  const directory = temporaryDirectory();
  const messages: string[] = [];
  const logger = createLogger({
    level: 'trace',
    nodeEnv: 'test',
    destination: { write: (line) => messages.push(JSON.parse(line).msg) },
  });
  const config = { ...parseConfig({ NODE_ENV: 'test', DATA_DIR: directory.path, ...env }), keys: testKeys() };
  const service = await compose(config, logger, own);
  const ready = async () => {
    const route = service.routes.find(({ name }) => name === 'ready') ?? expect.unreachable();
    return route.handler(undefined as never, undefined as never);
  };
  const has = (name: string) => () => existsSync(join(directory.path, name));
  return { ...service, messages, ready, hasDatabase: has('database'), hasFactorKey: has('keys/factors.key') };
};

const check: Check = { name: 'own', ping: async () => undefined, required: true };

it('makes ports of the defaults, whose keys stay in the key set', async () => {
  const { ports, routes, close } = await composed({
    storage: memoryStorage(),
    ports: ({ ids, tokens }) => ({
      tokens: { ...tokens },
      ids: { next: () => `own ${ids.next()}` },
      secrets: { random: () => 'not random' },
    }),
  });
  onTestFinished(close);
  const { random, hashOf } = ports.secrets;
  expect([ports.ids.next(), random(), hashOf('a')]).toEqual([
    expect.stringMatching(/^own \w{26}$/),
    'not random',
    expect.any(String),
  ]);
  const keySet = routes.find(({ name }) => name === 'key-set') ?? expect.unreachable();
  expect(await keySet.handler(undefined as never, { set: () => undefined } as never)).toMatchObject({
    keys: [{ kty: 'EC' }],
  });
});

it('keeps the default of a port, or of a member of one, that is undefined', async () => {
  const none = {
    clock: undefined,
    mailer: undefined,
    secrets: { random: undefined },
    proofs: { verifyDevice: undefined },
  };
  const { ports, close } = await composed({ storage: memoryStorage(), ports: none as never });
  onTestFinished(close);
  expect(ports).toMatchObject({
    clock: { now: expect.any(Function) },
    mailer: { send: expect.any(Function) },
    secrets: { random: expect.any(Function), hashOf: expect.any(Function) },
    proofs: { verifyDevice: expect.any(Function) },
  });
});

describe('the secrets of authenticator apps', () => {
  const secretsOf = async (own: Overrides, env: Env = {}) => {
    const { ports, close, hasFactorKey } = await composed({ storage: memoryStorage(), ...own }, env);
    await close();
    return { secrets: ports.secrets.factors, hasFactorKey: hasFactorKey() };
  };

  it('have a key in DATA_DIR, unless FACTOR_KEYS or the caller has one', async () => {
    const made = await secretsOf({});
    expect(made.hasFactorKey).toBe(true);
    expect(made.secrets?.decrypt(made.secrets.encrypt('S', 'ada'), 'ada')).toBe('S');
    const configured = await secretsOf({}, { FACTOR_KEYS: Buffer.alloc(32, 1).toString('base64url') });
    expect(configured.hasFactorKey).toBe(false);
    expect(configured.secrets?.isCurrent(factorSecrets(factorKeys(['a'])).encrypt('S', 'ada'))).toBe(true);
    const own = factorSecrets(factorKeys(['b']));
    expect(await secretsOf({ ports: { secrets: { factors: own } } })).toEqual({ secrets: own, hasFactorKey: false });
    expect(await secretsOf({ ports: { secrets: { factors: null } } })).toEqual({ secrets: null, hasFactorKey: false });
  });

  it('are not there in production without FACTOR_KEYS', async () => {
    expect(await secretsOf({}, PRODUCTION)).toEqual({ secrets: null, hasFactorKey: false });
  });
});

describe('a storage of one’s own', () => {
  it('is used and checked, and no database is opened', async () => {
    const storage = memoryStorage();
    const service = await composed({ storage, checks: [check] });
    onTestFinished(service.close);
    const user = aUser();
    await service.ports.users.add(user);
    expect(await storage.users.findById(user.id)).toEqual(user);
    expect(await service.ready()).toEqual({ status: 'ready', checks: { own: 'up' } });
    expect(service.hasDatabase()).toBe(false);
  });

  it('needs no database that could be reached, and production is not warned of it', async () => {
    const unreachable = { DATABASE_URL: `postgresql://t@127.0.0.1:${await freePort()}/x` };
    for (const env of [unreachable, { ...PRODUCTION, DATABASE_URL: '', MAIL_URL: '' }]) {
      const service = await composed({ storage: memoryStorage() }, env);
      await service.close();
      expect(service.messages).toEqual([]);
    }
  });
});

describe('serve with a storage of one’s own', () => {
  const configOf = (env: Env = {}) => ({
    ...parseConfig({ NODE_ENV: 'test', PORT: '0', LOG_LEVEL: 'silent', ...env }),
    keys: testKeys(),
  });

  it('closes it once, after the last response, however often the service is stopped', async () => {
    const close = vi.fn();
    const stop = await serve(configOf(), { storage: memoryStorage(), close });
    expect(close).not.toHaveBeenCalled();
    await Promise.all([stop('SIGINT'), stop('SIGTERM')]);
    await stop('again');
    expect(close).toHaveBeenCalledOnce();
  });

  it('closes it when the service does not start, whatever the reason', async () => {
    const { port } = await listenOnLoopback(createServer());
    const broken = {
      get tokens(): never {
        throw new Error('no tokens');
      },
    };
    const starts = [
      { env: { PORT: String(port) }, ports: {}, reason: /^HOST and PORT: / },
      { env: {}, ports: broken, reason: /^no tokens$/ },
    ];
    for (const { env, ports, reason } of starts) {
      const close = vi.fn(() => Promise.reject(new Error('does not close')));
      await expect(serve(configOf(env), { storage: memoryStorage(), ports, close })).rejects.toThrow(reason);
      expect(close).toHaveBeenCalledOnce();
    }
  });

  it('that fails to close keeps nothing else open, and the failure is reported', async () => {
    const port = await freePort();
    const metrics = await freePort();
    const admin = await freePort();
    const config = configOf({ PORT: `${port}`, METRICS: `127.0.0.1:${metrics}`, ADMIN_PORT: `${admin}` });
    const close = () => Promise.reject(new Error('does not close'));
    const stop = await serve(config, { storage: memoryStorage(), close });
    await fetch(`http://127.0.0.1:${metrics}/metrics`);
    expect((await fetch(`http://127.0.0.1:${admin}/users`)).status).toBe(401);
    await expect(stop('test')).rejects.toThrow('does not close');
    for (const each of [port, metrics, admin])
      await expect(fetch(`http://127.0.0.1:${each}/metrics`)).rejects.toThrow();
  });
});
