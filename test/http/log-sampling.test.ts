// Proves SPEC 21.10; flood-7
import type { Logger } from 'pino';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type LineKind, lineCounter, logSampling } from '../../src/adapters/http/logging/log-sampling.ts';
import { createLogger } from '../../src/infrastructure/logging/log.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import { type LogLine, startService } from '../support/http/service.ts';
import { probe, type StageApp, type StageDeps, stageApp, stageDeps } from '../support/http/stage-app.ts';

const MINUTE = 60_000;
const LINES_PER_KIND = 100;
const KIND: LineKind = { level: 'error', of: 'a fault', route: 'probe', code: 'A', status: 500 };

/** How many of `times` lines are admitted. */
const admitted = (times: number, admits: (n: number) => boolean): number =>
  Array.from({ length: times }, (_, n) => admits(n)).filter(Boolean).length;

describe('a count of lines', () => {
  it('admits a limited number of each kind, and counts the rest', () => {
    const count = lineCounter();
    expect(admitted(LINES_PER_KIND + 7, () => count.admits(KIND))).toBe(LINES_PER_KIND);
    expect(count.suppressed()).toEqual([{ ...KIND, suppressed: 7 }]);
  });

  it('admits fewer lines that are alike, and no more of different ones than the limit of their kind', () => {
    const count = lineCounter();
    expect(admitted(5, () => count.admits(KIND, { group: 'a', maxLines: 2 }))).toBe(2);
    expect(admitted(5, () => count.admits(KIND, { group: 'b', maxLines: 2 }))).toBe(2);
    expect(admitted(1_000, (n) => count.admits(KIND, { group: `c${n}`, maxLines: 2 }))).toBe(LINES_PER_KIND - 4);
    expect(count.suppressed()).toEqual([{ ...KIND, suppressed: 3 + 3 + 1_000 - (LINES_PER_KIND - 4) }]);
  });

  it.each<[string, LineKind]>([
    ['level', { ...KIND, level: 'warn' }],
    ['message', { ...KIND, of: 'another' }],
    ['route', { ...KIND, route: 'other' }],
    ['code', { ...KIND, code: 'B' }],
    ['status', { ...KIND, status: 503 }],
  ])('treats lines with another %s as another kind', (_what, other) => {
    const count = lineCounter();
    admitted(LINES_PER_KIND + 1, () => count.admits(KIND));
    expect(count.admits(other)).toBe(true);
    expect(count.suppressed()).toEqual([{ ...KIND, suppressed: 1 }]);
  });
});

describe('sampling', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });

  const sampler = (level: 'info' | 'fatal' = 'info') => {
    const logs: LogLine[] = [];
    const destination = { write: (line: string) => logs.push(JSON.parse(line)) };
    const logger: Logger = createLogger({ level, nodeEnv: 'test', destination }, () => ({
      requestId: 'of some request',
    }));
    const sampling = logSampling(logger);
    onTestFinished(sampling.close);
    return { sampling, logs };
  };

  it('logs each minute what was left out, at the level of the lines, and starts again; the rest when it is closed', () => {
    const { sampling, logs } = sampler();
    admitted(LINES_PER_KIND + 3, () => sampling.admits(KIND));
    vi.advanceTimersByTime(MINUTE - 1);
    expect(logs).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(logs).toEqual([expect.objectContaining({ ...KIND, suppressed: 3, msg: 'lines suppressed' })]);
    expect(admitted(LINES_PER_KIND + 1, () => sampling.admits(KIND))).toBe(LINES_PER_KIND);
    vi.advanceTimersByTime(MINUTE);
    expect(logs.map(({ suppressed }) => suppressed)).toEqual([3, 1]);
    admitted(LINES_PER_KIND + 2, () => sampling.admits(KIND));
    sampling.close();
    vi.advanceTimersByTime(10 * MINUTE);
    expect(logs.map(({ suppressed }) => suppressed)).toEqual([3, 1, 2]);
  });

  it('does not count lines below the log level', () => {
    const { sampling, logs } = sampler('fatal');
    expect(admitted(LINES_PER_KIND + 1, () => sampling.admits(KIND))).toBe(0);
    sampling.close();
    expect(logs).toEqual([]);
  });
});

/** An application with its log; `endWindow` logs what was left out. */
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
const withMessage = (logs: StageApp['logs'], text: string) => logs.filter(({ msg }) => msg === text);
const errorLines = (logs: StageApp['logs']) =>
  logs.filter(({ code, suppressed }) => code !== undefined && suppressed === undefined);

describe('a repeated request', () => {
  const LIMITED = {
    rateLimits: { global: { requests: 1, window: MINUTE }, strict: null, public: null },
    counts: { countRequest: async () => ({ count: 2, left: MINUTE }) },
  };
  const TIMES = 25;

  it.each<[what: string, written: number, send: (app: StageApp) => PromiseLike<unknown>, line: object, given?: object]>(
    [
      [
        'beyond the rate limit',
        10,
        ({ http }) => http.get('/probe').expect(429),
        { level: 'warn', status: 429, route: 'probe' },
        LIMITED,
      ],
      [
        'from an origin that is not allowed',
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
    ],
  )('%s is logged %i times a minute, and then counted', async (_what, written, send, line, given) => {
    const app = await sampledApp(given);
    await repeat(TIMES, () => send(app));
    expect(errorLines(app.logs)).toHaveLength(written);
    expect(withMessage(app.logs, 'request answered')).toHaveLength(written);
    expect(withMessage(app.endWindow(), 'lines suppressed')).toEqual([
      expect.objectContaining({ ...line, suppressed: TIMES - written }),
    ]);
  });

  it('that is unreadable is logged once a minute for each status, and then counted', async () => {
    const app = await sampledApp();
    await repeat(3, () => exchangeRaw(app.url, head('GET /probe', { 'X-Long': 'a'.repeat(20_000) })));
    await repeat(2, () => exchangeRaw(app.url, 'GARBAGE\r\n\r\n'));
    expect(withMessage(app.logs, 'unreadable request').map(({ status }) => status)).toEqual([431, 400]);
    const kind = { level: 'info', of: 'unreadable request' };
    expect(withMessage(app.endWindow(), 'lines suppressed')).toEqual([
      expect.objectContaining({ ...kind, status: 431, suppressed: 2 }),
      expect.objectContaining({ ...kind, status: 400, suppressed: 1 }),
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
  ])('is logged with its origin only when that is well-formed: %.40s', async (origin, reason) => {
    const app = await sampledApp();
    await app.http.get('/probe').set('Origin', origin).expect(403);
    expect(errorLines(app.logs)).toEqual([expect.objectContaining({ reason })]);
  });

  it('that is slow is logged at its level up to the limit, and then counted', async () => {
    const app = await sampledApp({ slowRequestThresholds: { warn: 0, error: 600_000 } });
    await repeat(LINES_PER_KIND + 5, () => app.http.get('/probe').expect(200));
    const levels = withMessage(app.logs, 'request answered').map(({ level }) => level);
    expect(levels).toEqual(Array(LINES_PER_KIND).fill('warn'));
    expect(withMessage(app.endWindow(), 'lines suppressed')).toMatchObject([{ level: 'warn', suppressed: 5 }]);
  });

  it('that is refused for its content is logged each time, since the rate limit bounds that', async () => {
    const app = await stageApp([probe(() => null, { auth: 'required' })]);
    await repeat(LINES_PER_KIND + 5, () => app.http.get('/probe').expect(401));
    expect(errorLines(app.logs)).toHaveLength(LINES_PER_KIND + 5);
    expect(withMessage(app.logs, 'request answered')).toHaveLength(LINES_PER_KIND + 5);
  });

  it('is counted in a last line when the service stops', async () => {
    const service = await startService();
    await repeat(12, () => service.http.get('/nowhere').expect(404));
    await service.close();
    expect(withMessage(service.logs, 'lines suppressed')).toEqual([
      expect.objectContaining({ status: 404, suppressed: 2 }),
    ]);
  });
});
