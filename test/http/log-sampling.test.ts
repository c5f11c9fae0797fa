import type { Logger } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type LineKind, lineCount, logSampling } from '../../src/adapters/http/logging/log-sampling.ts';
import { createLogger } from '../../src/infrastructure/logging/logger.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import { type LogLine, startService } from '../support/http/service.ts';
import { probe, type StageApp, type StageDeps, stageApp, stageDeps } from '../support/http/stage-app.ts';

const MINUTE = 60_000;
const MOST = 100;
const KIND: LineKind = { level: 'error', of: 'a fault', route: 'probe', code: 'A', status: 500 };

/** How many of so many lines are admitted. */
const admitted = (times: number, admits: (n: number) => boolean): number =>
  Array.from({ length: times }, (_, n) => admits(n)).filter(Boolean).length;

describe('a count of lines', () => {
  it('admits so many of a kind, and counts the others', () => {
    const count = lineCount();
    expect(admitted(MOST + 7, () => count.admits(KIND))).toBe(MOST);
    expect(count.leftOut()).toEqual([{ ...KIND, leftOut: 7 }]);
  });

  it('admits fewer that are alike, and of all that differ no more than of a kind', () => {
    const count = lineCount();
    expect(admitted(5, () => count.admits(KIND, { alike: 'a', most: 2 }))).toBe(2);
    expect(admitted(5, () => count.admits(KIND, { alike: 'b', most: 2 }))).toBe(2);
    expect(admitted(1_000, (n) => count.admits(KIND, { alike: `c${n}`, most: 2 }))).toBe(MOST - 4);
    expect(count.leftOut()).toEqual([{ ...KIND, leftOut: 3 + 3 + 1_000 - (MOST - 4) }]);
  });

  it.each<[string, LineKind]>([
    ['level', { ...KIND, level: 'warn' }],
    ['message', { ...KIND, of: 'another' }],
    ['route', { ...KIND, route: 'other' }],
    ['code', { ...KIND, code: 'B' }],
    ['status', { ...KIND, status: 503 }],
  ])('has lines of another %s for another kind', (_what, other) => {
    const count = lineCount();
    admitted(MOST + 1, () => count.admits(KIND));
    expect(count.admits(other)).toBe(true);
    expect(count.leftOut()).toEqual([{ ...KIND, leftOut: 1 }]);
  });

  it('has nothing to tell when nothing was left out', () => {
    const count = lineCount();
    count.admits(KIND);
    expect(count.leftOut()).toEqual([]);
  });
});

describe('sampling', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const sampler = (level: 'info' | 'fatal' = 'info') => {
    const logs: LogLine[] = [];
    const destination = { write: (line: string) => logs.push(JSON.parse(line)) };
    const logger: Logger = createLogger({ level, environment: 'test', version: 'test', destination }, () => ({
      requestId: 'of some request',
    }));
    const sampling = logSampling(logger);
    onTestFinished(sampling.close);
    return { sampling, logs };
  };

  it('tells what was left out when a minute is over, at the level of the lines, and begins anew', () => {
    const { sampling, logs } = sampler();
    admitted(MOST + 3, () => sampling.admits(KIND));
    vi.advanceTimersByTime(MINUTE - 1);
    expect(logs).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(logs).toEqual([expect.objectContaining({ ...KIND, leftOut: 3, msg: 'lines left out' })]);
    expect(admitted(MOST + 1, () => sampling.admits(KIND))).toBe(MOST);
    vi.advanceTimersByTime(MINUTE);
    expect(logs.map(({ leftOut }) => leftOut)).toEqual([3, 1]);
    vi.advanceTimersByTime(10 * MINUTE);
    expect(logs).toHaveLength(2);
  });

  it('tells it when it is closed, and nothing afterwards', () => {
    const { sampling, logs } = sampler();
    admitted(MOST + 2, () => sampling.admits(KIND));
    sampling.close();
    vi.advanceTimersByTime(10 * MINUTE);
    expect(logs.map(({ leftOut }) => leftOut)).toEqual([2]);
  });

  it('counts no line that the log would not write', () => {
    const { sampling, logs } = sampler('fatal');
    expect(admitted(MOST + 1, () => sampling.admits(KIND))).toBe(0);
    sampling.close();
    expect(logs).toEqual([]);
  });
});

/** The application, and what it logged once its window is over. */
const sampledApp = async (given: Partial<StageDeps> = {}) => {
  const deps = stageDeps(given);
  const app = await stageApp([probe(() => null)], { ...deps, ...given });
  const endWindow = () => {
    deps.sampling.close();
    return deps.logs;
  };
  return { ...app, logs: deps.logs, endWindow };
};

const repeat = async (times: number, send: (n: number) => PromiseLike<unknown>): Promise<void> => {
  for (let n = 0; n < times; n += 1) await send(n);
};
const bySaying = (logs: StageApp['logs'], text: string) => logs.filter(({ msg }) => msg === text);
const aboutErrors = (logs: StageApp['logs']) =>
  logs.filter(({ code, leftOut }) => code !== undefined && leftOut === undefined);

describe('a stranger who repeats himself', () => {
  const ONE_A_MINUTE = { requests: 1, window: MINUTE };
  const LIMITED = { rateLimits: { global: ONE_A_MINUTE, strict: null, public: null } };
  const TIMES = 25;

  // Proves: exception-10, flood-7
  it.each<[what: string, written: number, send: (app: StageApp) => PromiseLike<unknown>, line: object]>([
    [
      'from an origin that is not listed',
      1,
      ({ http }) => http.get('/probe').set('Origin', 'https://elsewhere.example').expect(403),
      { level: 'error', status: 403 },
    ],
    [
      'for a path that does not exist',
      10,
      ({ http }) => http.get('/nowhere').expect(404),
      { level: 'error', status: 404, route: 'fallback' },
    ],
    [
      'by a method that does not exist',
      10,
      ({ http }) => http.put('/probe').expect(405),
      { level: 'error', status: 405, route: 'fallback' },
    ],
  ])('%s is logged %i times a minute, and then counted', async (_what, written, send, line) => {
    const app = await sampledApp();
    await repeat(TIMES, () => send(app));
    expect(aboutErrors(app.logs)).toHaveLength(written);
    expect(bySaying(app.logs, 'request answered')).toHaveLength(written);
    expect(bySaying(app.endWindow(), 'lines left out')).toEqual([
      expect.objectContaining({ ...line, leftOut: TIMES - written }),
    ]);
  });

  // Proves: flood-7
  it('beyond his limit is logged 10 times a minute, and then counted', async () => {
    const app = await sampledApp(LIMITED);
    await app.http.get('/probe').expect(200);
    await repeat(TIMES, () => app.http.get('/probe').expect(429));
    expect(aboutErrors(app.logs)).toHaveLength(10);
    expect(bySaying(app.logs, 'request answered').map(({ status }) => status)).toEqual([200, ...Array(10).fill(429)]);
    expect(bySaying(app.endWindow(), 'lines left out')).toEqual([
      expect.objectContaining({ level: 'warn', status: 429, route: 'probe', leftOut: TIMES - 10 }),
    ]);
  });

  it('in what is no HTTP is logged once a minute for each kind of it, and then counted', async () => {
    const app = await sampledApp();
    await repeat(3, () => exchangeRaw(app.url, head('GET /probe', { 'X-Long': 'a'.repeat(20_000) })));
    await repeat(2, () => exchangeRaw(app.url, 'GARBAGE\r\n\r\n'));
    expect(bySaying(app.logs, 'unreadable request').map(({ status }) => status)).toEqual([431, 400]);
    const told = { level: 'info', of: 'unreadable request' };
    expect(bySaying(app.endWindow(), 'lines left out')).toEqual([
      expect.objectContaining({ ...told, status: 431, leftOut: 2 }),
      expect.objectContaining({ ...told, status: 400, leftOut: 1 }),
    ]);
  });

  // Proves: flood-7
  it('from ever new origins fills neither the log nor the memory', async () => {
    const app = await sampledApp();
    await repeat(MOST + 20, (n) => app.http.get('/probe').set('Origin', `https://of-${n}.example`).expect(403));
    expect(aboutErrors(app.logs)).toHaveLength(MOST);
    expect(new Set(aboutErrors(app.logs).map(({ reason }) => reason)).size).toBe(MOST);
    expect(bySaying(app.endWindow(), 'lines left out')).toEqual([
      expect.objectContaining({ status: 403, leftOut: 20 }),
    ]);
  });

  it.each([
    ['https://app.example.com:8443', 'origin https://app.example.com:8443 is not in ALLOWED_ORIGINS_DEV'],
    ['null', 'origin null is not in ALLOWED_ORIGINS_DEV'],
    ['https://[::1]:3000', 'origin https://[::1]:3000 is not in ALLOWED_ORIGINS_DEV'],
    [`https://${'a'.repeat(5_000)}.example`, 'origin (malformed) is not in ALLOWED_ORIGINS_DEV'],
    ['https://a.example/path?token=hunter22', 'origin (malformed) is not in ALLOWED_ORIGINS_DEV'],
    ['hunter22', 'origin (malformed) is not in ALLOWED_ORIGINS_DEV'],
    ['https://user:hunter22@a.example', 'origin (malformed) is not in ALLOWED_ORIGINS_DEV'],
  ])('is told by his origin where that has the form of one: %.40s', async (origin, reason) => {
    const app = await sampledApp();
    await app.http.get('/probe').set('Origin', origin).expect(403);
    expect(aboutErrors(app.logs)).toEqual([expect.objectContaining({ reason })]);
  });

  it('in requests that take long is logged so many times, each at its level', async () => {
    const app = await sampledApp({ slowRequest: { warn: 0, error: 600_000 } });
    await repeat(MOST + 5, () => app.http.get('/probe').expect(200));
    expect(bySaying(app.logs, 'request answered').map(({ level }) => level)).toEqual(Array(MOST).fill('warn'));
    expect(bySaying(app.endWindow(), 'lines left out')).toEqual([
      expect.objectContaining({ level: 'warn', of: 'request answered', route: 'probe', leftOut: 5 }),
    ]);
  });

  it('is logged each time he is refused for what he says: his limit bounds that', async () => {
    const app = await stageApp([probe(() => null, { auth: 'required' })]);
    await repeat(MOST + 5, () => app.http.get('/probe').expect(401));
    expect(aboutErrors(app.logs)).toHaveLength(MOST + 5);
    expect(bySaying(app.logs, 'request answered')).toHaveLength(MOST + 5);
  });

  it('has all the lines of one request or none', async () => {
    const app = await sampledApp();
    await repeat(30, () => app.http.get('/nowhere').expect(404));
    const ids = (lines: readonly LogLine[]) => lines.map(({ requestId }) => requestId);
    expect(ids(bySaying(app.logs, 'request answered'))).toEqual(ids(aboutErrors(app.logs)));
  });

  it('leaves room for other reasons and other routes', async () => {
    const app = await sampledApp(LIMITED);
    await app.http.get('/probe').expect(200);
    await repeat(30, () => app.http.get('/probe').expect(429));
    await app.http.get('/nowhere').expect(404);
    await app.http.get('/nowhere').expect(429);
    expect(aboutErrors(app.logs).slice(-2)).toEqual([
      expect.objectContaining({ route: 'fallback', code: 'SYS_HTTP_UNEXPECTED_ERROR' }),
      expect.objectContaining({ route: 'fallback', code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' }),
    ]);
  });

  it('ends with a count when the service stops', async () => {
    const service = await startService();
    await repeat(12, () => service.http.get('/nowhere').expect(404));
    await service.close();
    expect(bySaying(service.logs, 'lines left out')).toEqual([expect.objectContaining({ status: 404, leftOut: 2 })]);
  });
});
