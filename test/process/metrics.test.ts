// Proves operator-6
import { createServer } from 'node:http';
import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { REVISION, VERSION } from '../../src/infrastructure/version.ts';
import { exchangeRaw } from '../support/http/raw-http.ts';
import { aPerson, cookiePair, refreshCookieOf } from '../support/http/service.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { runInMemory } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';

/** The value of a sample in the exposition format, by its name and labels. */
const sample = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

const begun = Date.now() / 1000;
const hook = createServer((_request, response) => response.end('{"decision":"allow"}'));
const port = await freePort();
const { port: hookPort } = await listenOnLoopback(hook);
const service = await runInMemory({
  METRICS: String(port),
  HOOK_BEFORE_REGISTER: `http://127.0.0.1:${hookPort}/`,
  // However slow the machine is, the second use of a token is a race.
  JWT_REFRESH_RACE_WINDOW: '5m',
});

describe('the metrics', () => {
  const scrape = async () => (await request(`http://127.0.0.1:${port}`).get('/metrics').expect(200)).text;

  it('count requests by route and status, and refreshes by outcome', async () => {
    const http = documentedHttp(service.url);
    const cookie = cookiePair(refreshCookieOf(await http.post('/auth/register').send(aPerson()).expect(201)));
    await http.post('/auth/refresh-token').set('Cookie', cookie).expect(200);
    await http.post('/auth/refresh-token').set('Cookie', cookie).expect(401);
    await http.get('/nowhere/to/be/found').expect(404);
    const text = await scrape();
    const requests = 'tandem_http_request_duration_seconds_count';
    expect(sample(text, `${requests}{route="register",status="201"}`)).toBe(1);
    expect(sample(text, `${requests}{route="refresh",status="200"}`)).toBe(1);
    expect(sample(text, `${requests}{route="refresh",status="401"}`)).toBe(1);
    expect(sample(text, `${requests}{route="fallback",status="404"}`)).toBe(1);
    expect(sample(text, 'tandem_refreshes_total{outcome="rotated"}')).toBe(1);
    expect(sample(text, 'tandem_refreshes_total{outcome="raced"}')).toBe(1);
    for (const outcome of ['reused', 'unproven'])
      expect(sample(text, `tandem_refreshes_total{outcome="${outcome}"}`)).toBe(0);
    expect(text).not.toContain('/nowhere');
  });

  it('count what happened to accounts and what hooks have answered, and say when the purges were done', async () => {
    const person = aPerson();
    const http = documentedHttp(service.url);
    const before = await scrape();
    await http.post('/auth/register').send(person).expect(201);
    await http.post('/auth/login').send({ account: person.email, password: person.password }).expect(200);
    await http.post('/auth/login').send({ account: person.email, password: 'wrong' }).expect(401);
    const events = (text: string, kind: string, reason = '') =>
      sample(text, `tandem_account_events_total{kind="${kind}",reason="${reason}"}`) ?? Number.NaN;
    // Refused log-ins are counted when they are stored, some seconds later.
    await vi.waitFor(async () => expect(events(await scrape(), 'login-refused')).toBe(1), { timeout: 60_000 });
    const after = await scrape();
    for (const kind of ['registered', 'logged-in']) expect(events(after, kind) - events(before, kind), kind).toBe(1);
    expect(events(after, 'session-ended', 'token-replayed')).toBe(0);
    const hooks = (outcome: string) =>
      sample(after, `tandem_hook_calls_total{hook="before-register",outcome="${outcome}"}`);
    expect([hooks('done'), hooks('failed'), hooks('dropped')]).toEqual([events(after, 'registered'), 0, 0]);
    expect(sample(after, 'tandem_database_failures_total{class="connection"}')).toBe(0);
    for (const rows of ['sessions', 'events', 'links', 'mailboxes', 'operations'])
      expect(sample(after, `tandem_purge_done_timestamp_seconds{rows="${rows}"}`)).toBeGreaterThan(begun);
  });

  it('say which version and revision it is, and that it is ready', async () => {
    const text = await scrape();
    expect(sample(text, `tandem_build_info{version="${VERSION}",revision="${REVISION ?? ''}"}`)).toBe(1);
    expect(sample(text, 'tandem_ready')).toBe(1);
    expect(text).not.toContain('tandem_database_connections_max');
  });

  it('count unreadable requests', async () => {
    await exchangeRaw(service.url, 'GARBAGE\r\n\r\n');
    expect(sample(await scrape(), 'tandem_http_unreadable_requests_total{status="400"}')).toBe(1);
  });

  it('are not served on the port of the service', async () => {
    await documentedHttp(service.url).get('/metrics').expect(404);
  });
});
