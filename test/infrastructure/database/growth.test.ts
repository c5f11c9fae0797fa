import type { Response } from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { connect, databaseOver } from '../../../src/adapters/mikro-orm/open-database.ts';
import { sendTo } from '../../../src/adapters/mikro-orm/schema.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { serviceStarter } from '../../support/http/account.ts';
import { anApp } from '../../support/http/app-login.ts';
import type { TestService } from '../../support/http/service.ts';
import { copyStatements } from '../../support/records/copies.ts';
import { fill } from '../../support/records/sample-rows.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { startUseCases, USE_CASES } from '../../support/ways-in/use-cases.ts';
import { WAYS } from '../../support/ways-in/ways.ts';
import { type OwnedAccount, ownedAccount, type Parts } from '../../support/ways-in/world.ts';

/** Routes by their names, which no use case asks, and which need more than a path. */
const OTHERS: Readonly<Record<string, (world: OwnedAccount) => PromiseLike<unknown>>> = {
  'start-at-provider-for-app': ({ service }) => service.http.get('/auth/oidc/acme').query({ to: anApp().to }),
  'pending-login': async (world) => {
    await WAYS.app(world, false);
    const pending = world.cookiesOf(await world.logIn());
    return world.service.http.get('/auth/login/pending').set('Cookie', pending);
  },
  'preview-password-reset': async ({ askForLink, confirmLink }) =>
    confirmLink('/auth/password-reset/preview', await askForLink('password-reset')),
  'preview-email-change': async ({ account, askForAddress, confirmLink }) =>
    confirmLink('/auth/email-change/preview', await askForAddress(account.other)),
  error: ({ service }) => service.http.get('/errors/DB_RECORD_NOT_FOUND'),
  'verify-email': ({ office, account }) => office('post', `/users/${account.id}/email/verify`),
  'operators-replay-webhook': async ({ office }) => {
    const [webhook] = (await office('get', '/webhooks')).body.data.webhooks;
    return office('post', `/webhooks/${webhook.id}/replay`);
  },
};

/** They read no table. */
const WITHOUT = [
  ...['passkey-login-options', 'start-at-provider', 'start-at-provider-for-app', 'ready', 'live', 'assetlinks'],
  ...['error', 'errors', 'key-set', 'related-origins', 'change-password-page', 'passkey-endpoints', 'open-api', 'docs'],
  ...['former-password-reset-page', 'former-email-verification-page', 'former-not-me-page', 'former-email-change-page'],
  ...['former-email-change-undo-page', 'former-factors-undo-page', 'home', 'console', 'device-key'],
  ...['client', 'client-account', 'client-passkeys', 'continue-page-script', 'user-pages-script', 'device-key-script'],
  ...[
    'apple-app-site-association',
    'console-style',
    'console-script',
    'docs-filter',
    'user-pages-stylesheet',
    'stylesheet',
    'icon',
  ],
];

type Seen = { readonly name: string; readonly status: number; readonly pages: number };
type Http = TestService['http'];
type Send = ReturnType<typeof sendTo>;

/** Pages of tables and indexes that were read, as far as connections have reported it. */
const PAGES = `select sum(coalesce(heap_blks_hit + heap_blks_read, 0) + coalesce(idx_blks_hit + idx_blks_read, 0)) as pages
  from pg_statio_user_tables`;

const routeOf = (routes: readonly Route[], method: string, target: string): string => {
  const path = target.split('?')[0] ?? '';
  const ofMethod = routes.filter((route) => route.method.toLowerCase() === method);
  const isLike = (route: Route) => new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
  return (ofMethod.find((route) => route.path === path) ?? ofMethod.find(isLike))?.name ?? expect.unreachable(target);
};

/** Counts the pages that are read meanwhile. @param send over the connection that reads them: it reports what it has read when it is asked to. */
const meterOf = (send: Send) => {
  const pagesRead = async () => {
    await send('select pg_stat_force_next_flush()');
    return Number((await send(PAGES))[0]?.pages);
  };
  const seen: Seen[] = [];
  const counting = async <Result>(name: string, work: () => PromiseLike<Result>): Promise<Result> => {
    const before = await pagesRead();
    const result = await work();
    seen.push({ name, pages: (await pagesRead()) - before, status: Object(result).status ?? 200 });
    return result;
  };
  const watching = (http: Http, routes: readonly Route[]): Http =>
    new Proxy(http, {
      get: (target, method: 'get') => (path: string) => {
        const test = target[method](path);
        const { end } = test;
        const answer = () =>
          new Promise<Response>((resolve, reject) =>
            end.call(test, (error, response) => (error ? reject(error) : resolve(response))),
          );
        return Object.assign(test, {
          end: (done: (error: unknown, response?: Response) => void) => {
            counting(routeOf(routes, method, path), answer).then((response) => done(null, response), done);
            return test;
          },
        });
      },
    });
  return { seen, counting, watching };
};

type Measured = Awaited<ReturnType<typeof measured>>;

/** What every route reads among so many users, in the order in which they are asked. A form is posted to a page, and asks a route of the API. */
const measured = async (users: number, open: ReturnType<typeof serviceStarter>) => {
  const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
  const opened = await connect({ ...onPostgresql(url), poolSize: 1 }, { migrate: true });
  const [send, { records, withFasterMethods: faster }] = [sendTo(opened.db), databaseOver(opened)];
  await fill(records, 1);
  for (const statement of copyStatements(users)) await send(statement);
  const { seen, counting, watching } = meterOf(send);
  const { sessions, ...stores } = storageOver(records);
  const services = await startUseCases(open, { ...stores, sessions: faster(sessions) });
  const { clock, mailer, provider } = services.usual;
  const watched = ({ service }: Parts): Parts => {
    const [http, office] = [service.http, service.office];
    const routes = service.backOffice?.routes ?? [];
    const both = { http: watching(http, service.routes), office: watching(office, routes) };
    return { service: { ...service, ...both }, clock, mailer, provider };
  };
  const usual = watched(services.usual);
  for (const [name, given] of Object.entries(USE_CASES)) {
    const { prepare, by = 'usual', isProven = true } = typeof given === 'function' ? { prepare: given } : given;
    const world = await ownedAccount(usual, { isProven });
    await counting(name, await prepare({ ...world, ...watched(services[by]) }));
  }
  for (const ask of Object.values(OTHERS)) await ask(await ownedAccount(usual, { isProven: true }));
  const { routes, backOffice } = usual.service;
  const offices = backOffice?.routes ?? [];
  const unseen = (all: readonly Route[]) =>
    all
      .filter(({ method, visitor }) => method === 'GET' || visitor === undefined)
      .filter(({ name }) => !seen.some((each) => each.name === name && each.status < 400));
  const { me, office, account } = await ownedAccount(usual, { isProven: true });
  for (const { method, path, visitor } of unseen(routes))
    if (method === 'GET')
      await me('get', path)
        .set('Accept', visitor ? 'text/html' : '*/*')
        .redirects(0)
        .ok(() => true);
  for (const { method, path } of unseen(offices))
    if (method === 'GET') await office('get', path.replace(':id', account.id));
  await provider.close();
  await opened.close();
  await drop();
  return { seen, unseen: unseen([...routes, ...offices]).map(({ name }) => name) };
};

describe.runIf(TEST_DATABASE_URL !== undefined)('the pages of PostgreSQL that each route reads', () => {
  const open = serviceStarter();
  let few: Measured | undefined;
  let many: Measured | undefined;
  beforeAll(async () => {
    few = await measured(10_000, open);
  });
  beforeAll(async () => {
    many = await measured(40_000, open);
  });

  it('are seen: each route is asked with success, but the forms of pages, which submit to routes of the API', () => {
    expect(many?.unseen).toEqual([]);
  });

  it('are none for these, and some for all others', () => {
    const pages = Map.groupBy(many?.seen ?? [], ({ name }) => name);
    // The list of ended sessions is read once in two seconds, by the first request that asks for it.
    for (const name of ['session', 'ended-sessions']) pages.delete(name);
    const none = [...pages].filter(([, all]) => all.every(({ pages }) => pages === 0));
    expect(none.map(([name]) => name).toSorted()).toEqual(WITHOUT.toSorted());
  });

  it('are as many among 40,000 users as among 10,000, but to count them, and the events of the present hours, 10,000 at most', () => {
    const both = many?.seen.map(({ name, pages }, at) => ({ name, few: few?.seen[at], many: pages })) ?? [];
    expect(both.map(({ few }) => few?.name)).toEqual(both.map(({ name }) => name));
    // The list of ended sessions is read once in two seconds: one of the services may have answered without a read.
    const compared = both.filter(({ name, few }) => name !== 'ended-sessions' || few?.pages !== 0);
    // Some pages more are of the first row of a table.
    const growing = compared.filter(({ few, many }) => many > 1.5 * (few?.pages ?? 0) + 16);
    expect(growing).toMatchObject([{ name: 'operators-overview' }, { name: 'operators-count' }]);
    // Of an index alone.
    expect(many?.seen.find(({ name }) => name === 'operators-count')?.pages).toBeLessThan(40_000 / 16);
  });
});
