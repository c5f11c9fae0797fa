import request from 'supertest';
import { expect, vi } from 'vitest';
import { passwordHasher } from '../../../src/adapters/crypto/password-hasher.ts';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { idsOfRequest } from '../../../src/adapters/http/stages/arrival.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { Overrides, PortOverrides } from '../../../src/infrastructure/compose/ports.ts';
import { compose, type RunningService } from '../../../src/infrastructure/compose.ts';
import { type Config, parseConfig } from '../../../src/infrastructure/config.ts';
import { listen } from '../../../src/infrastructure/http-server/server.ts';
import { createLogger } from '../../../src/infrastructure/logging/log.ts';
import { closedAtEnd } from '../closing.ts';
import { testKeys } from '../keys.ts';
import { watchAnswers } from '../openapi/watched.ts';
import { partsOfService } from '../parts.ts';
import { ALL_ROUTES } from './all-routes.ts';

const KEYS = testKeys();

/** bcrypt with its lowest cost, to save time. */
export const hasher = passwordHasher({ cost: 4 });

export type LogLine = { readonly level: string; readonly msg: string; readonly [member: string]: unknown };

/** A storage, hooks and ports that replace those of the service, and the routes and tables of an application. */
export type Own = Pick<Overrides, 'storage' | 'hooks' | 'routes' | 'tables'> & PortOverrides;

export type TestService = Pick<
  RunningService,
  'routes' | 'backOffice' | 'ports' | 'deps' | 'mail' | 'webhooks' | 'metrics'
> & {
  readonly config: Config;
  readonly url: string;
  /** A supertest client of the listening service, without a cookie jar. */
  readonly http: ReturnType<typeof request>;
  /** A supertest client of the back office, which listens if ADMIN_PORT is set. */
  readonly office: ReturnType<typeof request>;
  /** Makes a supertest client with a cookie jar, like a browser. */
  readonly browser: () => ReturnType<typeof request.agent>;
  /** All log lines so far, of all levels. */
  readonly logs: readonly LogLine[];
  /** Stops the service. @throws Error if an answer did not match the OpenAPI document, or had a code that its route does not declare */
  readonly close: () => Promise<void>;
};

/**
 * Starts the service as `main.js` composes it, on a free port, and stops it at the end of the test or file.
 * @param settings replaces settings that the environment gives
 * @param env environment variables. By default rate limits are off, the services of a test file share keys, and the storage is
 *   in memory or that of the vitest project.
 */
export const startService = async (
  env: Readonly<Record<string, string>> = {},
  { storage, hooks, routes, tables, ...ports }: Own = {},
  settings: Partial<Config> = {},
): Promise<TestService> => {
  const logs: LogLine[] = [];
  const parts = await partsOfService(env, storage);
  const parsed = parseConfig({
    NODE_ENV: 'test',
    PORT: '0',
    BASE_URL: 'https://auth.example.org',
    RATE_LIMITS: 'off',
    ...parts.env,
    ...env,
  });
  const config = { ...parsed, keys: parsed.keys ?? KEYS, ...settings };
  const logger = createLogger(
    { level: 'trace', nodeEnv: 'test', destination: { write: (line) => logs.push(JSON.parse(line)) } },
    idsOfRequest,
  );
  const service = await compose(config, logger, {
    ...(parts.storage && { storage: parts.storage }),
    ...(hooks && { hooks }),
    ...(tables && { tables }),
    ...(routes && { routes }),
    ports,
  });
  if (parts.env.REDIS_URL !== undefined) await waitForRedis(service.routes);
  const { handlers, assertDocumented } = watchAnswers(service.http, service.routes);
  const server = await listen(handlers, config);
  const { backOffice: office } = service;
  const watchedOffice = office && watchAnswers(office.http, office.routes);
  const officeServer = watchedOffice && (await listen(watchedOffice.handlers, { ...config, port: 0 }));
  const url = `http://127.0.0.1:${server.address.port}`;
  return {
    ...service,
    config,
    url,
    http: request(url),
    office: request(`http://127.0.0.1:${officeServer?.address.port}`),
    browser: () => request.agent(url),
    logs,
    close: closedAtEnd(async () => {
      await Promise.all([server.close(), officeServer?.close()]);
      await service.close();
      await parts.remove();
      const undeclared = logs.filter(({ msg, reason }) => /^undeclared error code/m.test(`${msg}\n${reason}`));
      assertDocumented();
      watchedOffice?.assertDocumented();
      if (undeclared.length > 0) throw new Error(`undeclared error codes: ${JSON.stringify(undeclared)}`);
    }),
  };
};

/** Waits until the service has connected to Redis. It calls the handler directly, so that the call is neither limited nor logged. */
const waitForRedis = (routes: readonly Route[]): Promise<void> =>
  vi.waitFor(async () => {
    // The handler of this route uses neither argument.
    const answer = await routes.find(({ name }) => name === 'ready')?.handler(undefined as never, undefined as never);
    expect(answer).toMatchObject({ checks: { redis: 'up' } });
  }, 60_000);

/** All routes that the service can have. */
export const declaredRoutes = async (): Promise<readonly Route[]> => {
  const { close, routes } = await startService({ REDIS_URL: '', ...ALL_ROUTES }, { storage: memoryStorage() });
  await close();
  return routes;
};

let people = 0;

/** The input for the registration of a new user. */
export const aPerson = (): { username: string; email: string; password: string } => {
  people += 1;
  return { username: `Person.${people}`, email: `person.${people}@example.org`, password: 'correct horse battery' };
};

/** What GET /users/me returns for a user who has just registered. @param user the user in the answer to the registration */
export const currentUserOf = (user: object): object => ({
  ...user,
  emailVerified: false,
  attributes: {},
  locale: null,
  secondFactor: false,
  passkeys: 0,
});

/** The Set-Cookie header of `refresh_token` in a response, or `undefined` if there is none. */
export const refreshCookieOf = (response: { readonly headers: Record<string, unknown> }): string | undefined =>
  [response.headers['set-cookie'] ?? []]
    .flat()
    .find((line): line is string => String(line).startsWith('refresh_token='));

/** The name and value in a Set-Cookie header, as a browser sends them back. */
export const cookiePair = (setCookie: string | undefined): string => setCookie?.split(';')[0] ?? '';
