import { writeFileSync } from 'node:fs';
import request from 'supertest';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { assertionOf, SUPPORT, WITH_OFFICE } from '../support/http/back-office.ts';
import { answersThatDiffer, ORIGIN } from '../support/http/page-visitor.ts';
import { DEVELOPMENT } from '../support/processes/environments.ts';
import { type RunningService, runService, spawnService } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';
import { redisOfTheTests } from '../support/servers/of-the-tests.ts';
import { allGone, stopTree } from '../support/servers/process-tree.ts';
import { takeRedisDatabase } from '../support/storage/redis-databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Requests that one client may send to the catalog of errors. */
const LIMIT = 60;
/** Only catches hangs. */
const PATIENCE = { timeout: 60_000 };

/** In the primary process, the workers are asked at SIGUSR2, in place of every five seconds; a worker hangs at it. */
const PRELOADED = `
  import cluster from 'node:cluster';
  if (cluster.isWorker) process.on('SIGUSR2', () => { for (;;); });
  else globalThis.setInterval = (ask) => process.on('SIGUSR2', ask);
`;

type Line = Readonly<Record<string, unknown>> & { readonly pid: number; readonly msg: string };

const server = redisOfTheTests();

describe.runIf(server !== undefined)('a service with two workers', { timeout: 2 * PATIENCE.timeout }, () => {
  const directory = temporaryDirectory();
  const limits = { RATE_LIMITS: `public=${LIMIT}/600,strict=100/60` };
  const common = { ...DEVELOPMENT, DATA_DIR: directory.path, WORKERS: '2', BASE_URL: ORIGIN, ...limits };
  let env: typeof common & { readonly REDIS_URL: string };
  let service: RunningService;
  let metrics: string;
  let office: string;

  const lines = (of = service): Line[] => of.stdout.map((line) => JSON.parse(line));
  /** The ids of the workers that listen, in their order, when there were so many. */
  const workers = (count: number, of = service): Promise<number[]> =>
    vi.waitFor(() => {
      const listening = lines(of).filter(({ msg }) => msg.startsWith('Tandem is listening'));
      expect(new Set(listening.map(({ address }) => JSON.stringify(address))).size).toBe(1);
      expect(listening).toHaveLength(count);
      expect(lines(of)).toContainEqual(expect.objectContaining({ msg: 'all workers listen' }));
      return listening.map(({ pid }) => pid);
    }, PATIENCE);
  /** Each request has a connection of its own. */
  const get = (path: string) => request(service.url).get(path).set('Connection', 'close');
  const sample = async (series: string): Promise<string | undefined> => {
    const { text } = await request(metrics).get('/metrics').expect(200);
    // A worker tells the first process every five seconds.
    return text.split('\n').find((line) => line.startsWith(`${series} `));
  };

  beforeAll(async () => {
    env = { ...common, REDIS_URL: await takeRedisDatabase(server ?? '') };
    const [port, officePort] = [await freePort(), await freePort()];
    metrics = `http://127.0.0.1:${port}`;
    office = `http://127.0.0.1:${officePort}`;
    // A process group, as of a terminal.
    service = await runService({ ...env, ...WITH_OFFICE, METRICS: String(port), ADMIN_PORT: String(officePort) }, [
      'setsid',
    ]);
    await workers(2);
  }, PATIENCE.timeout);

  it('answers on one port, counts exactly for all, and has one list of metrics', async () => {
    const responses = await Promise.all(Array.from({ length: LIMIT + 20 }, () => get('/errors')));
    const allowed = responses.filter(({ status }) => status === 200);
    expect([allowed.length, responses.length - allowed.length]).toEqual([LIMIT, 20]);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(20);

    const all = (await workers(2)).sort();
    const answering = () => new Set(lines().flatMap(({ pid, route }) => (route === undefined ? [] : [pid])));
    await expect.poll(() => [...answering()].sort(), PATIENCE).toEqual(all);
    const requests = 'tandem_http_request_duration_seconds_count{route="errors"';
    await vi.waitFor(async () => expect(await sample(`${requests},status="200"}`)).toMatch(` ${LIMIT}`), PATIENCE);
    expect(await sample('tandem_ready')).toBe('tandem_ready 1');
    expect(await sample('tandem_rate_limit_mode{mode="shared"}')).toMatch(/ 1$/);
  });

  it('gives a form that is sent to two workers one answer', async () => {
    expect(await answersThatDiffer([service.url, service.url], 8)).toEqual([]);
  });

  it('has a back office in each worker, and accepts an assertion in one of them', async () => {
    for (let round = 0; round < 5; round += 1) {
      const assertion = await assertionOf(SUPPORT);
      const call = () => request(office).get('/users').auth(assertion, { type: 'bearer' }).set('Connection', 'close');
      const statuses = (await Promise.all([call(), call(), call(), call()])).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, 401, 401, 401]);
    }
    const all = (await workers(2)).toSorted();
    const refusing = () => lines().flatMap(({ pid, code }) => (code === 'AUTH_TOKEN_INVALID' ? [pid] : []));
    await expect.poll(() => [...new Set(refusing())].toSorted(), PATIENCE).toEqual(all);
  });

  it('replaces a worker that is killed, while the other one goes on, and nobody waits for the one that is gone', async () => {
    const [first = 0, second] = await workers(2);
    await stopTree(first);
    const answered: unknown[] = [];
    const requests = Array.from({ length: 4 }, async () => {
      const { status } = await get('/health/live').catch(({ code }) => ({ status: code }));
      answered.push(status);
    });
    await vi.waitFor(() => expect(answered).toEqual([200, 200, 200]), PATIENCE);
    process.kill(first, 'SIGKILL');
    await Promise.all(requests);
    expect(answered).toEqual([200, 200, 200, 'ECONNRESET']);
    await vi.waitFor(
      () =>
        expect(lines()).toContainEqual(expect.objectContaining({ worker: first, signal: 'SIGKILL', level: 'error' })),
      PATIENCE,
    );
    for (let count = 0; count < 4; count += 1) expect((await get('/health/live')).status).not.toBe(503);
    const [, , third] = await workers(3);
    expect([first, second]).not.toContain(third);
    expect((await Promise.all(Array.from({ length: 4 }, () => get('/errors')))).map(({ status }) => status)).toEqual(
      Array(4).fill(429),
    );
  });

  it('stops all of them at one Ctrl-C, which every process gets', async () => {
    const pids = await workers(3);
    process.kill(-(service.child.pid ?? 0), 'SIGINT');
    expect(await service.outcome).toEqual({ code: 0, signal: null });
    const stopping = lines().filter(({ msg }) => msg === 'Tandem is stopping');
    expect(stopping.map(({ pid }) => pid).sort()).toEqual(pids.slice(1).sort());
    await allGone(pids);
  });

  it('stops all of them at SIGTERM to the first process, and without it', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const again = await runService(env);
      const pids = await workers(2, again);
      again.child.kill(signal);
      expect((await again.outcome).code, signal).toBe(signal === 'SIGTERM' ? 0 : null);
      await allGone(pids);
    }
  });

  it('replaces a worker that hangs for half a minute, and has metrics of all meanwhile', async () => {
    const port = await freePort();
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(PRELOADED)}`;
    const again = await runService({ ...env, METRICS: String(port), NODE_OPTIONS });
    const value = async (series: string) => {
      const { text } = await request(`http://127.0.0.1:${port}`).get('/metrics').expect(200);
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1],
      );
    };
    const answered = () => value('tandem_http_request_duration_seconds_count{route="live",status="200"}');
    const ask = () => again.child.kill('SIGUSR2');
    try {
      const [first = 0, second] = await workers(2, again);
      for (let count = 0; count < 4; count += 1)
        await request(again.url).get('/health/live').set('Connection', 'close').expect(200);
      await vi.waitFor(async () => {
        ask();
        expect(await answered()).toBe(4);
      }, PATIENCE);
      process.kill(first, 'SIGUSR2');
      const ofFirst = () => lines(again).filter(({ worker }) => worker === first);
      const seen: number[] = [];
      while (!ofFirst().some(({ signal }) => signal === 'SIGKILL')) {
        const before = await value('process_cpu_seconds_total');
        seen.push(await answered());
        ask();
        // The other one has answered: counted are the times without an answer.
        await vi.waitFor(async () => expect(await value('process_cpu_seconds_total')).not.toBe(before), PATIENCE);
      }
      // On a busy machine it is asked once more before it is gone.
      const silent = ofFirst().flatMap((line) => line.silent ?? []);
      expect(silent.slice(0, 5)).toEqual([10_000, 15_000, 20_000, 25_000, 30_000]);
      // It is killed by the seventh at the earliest; on a busy machine, fewer answers were seen until then.
      expect(new Set(seen.slice(0, 7))).toEqual(new Set([4]));
      const [, , third] = await workers(3, again);
      expect([first, second]).not.toContain(third);
      expect(lines(again).filter(({ worker }) => worker === second)).toEqual([]);
    } finally {
      await again.stop('SIGKILL');
    }
  });

  /** A program whose workers close something of their own. @param closing what `close` does at last */
  const programThatCloses = (closing: string): string => {
    const program = `${temporaryDirectory().newPath()}.mjs`;
    writeFileSync(
      program,
      `import { serve, parseConfig } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
      const close = async () => {
        for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
        ${closing}
      };
      await serve(parseConfig(process.env), { close });`,
    );
    return program;
  };

  it('lets each worker of a program close its storage before it ends', async () => {
    const print = `process.stdout.write(JSON.stringify({ pid: process.pid, msg: 'closed' }) + '\\n');`;
    const again = await runService(env, [], programThatCloses(print));
    const pids = await workers(2, again);
    expect(await again.stop()).toEqual({ code: 0, signal: null });
    const closed = lines(again).flatMap(({ pid, msg }) => (msg === 'closed' ? [pid] : []));
    expect(closed.toSorted()).toEqual([...pids, again.child.pid].toSorted());
  });

  it('ends with the status 1 when a worker of a program could not close its storage', async () => {
    const again = await runService(env, [], programThatCloses(`if (process.send) throw new Error('not closed');`));
    await workers(2, again);
    expect(await again.stop()).toEqual({ code: 1, signal: null });
  });

  it('ends with the message and the status of a worker that cannot start', async () => {
    const { outcome, stderr } = spawnService({ ...env, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
    expect(await outcome).toEqual({ code: 1, signal: null });
    expect(stderr).toEqual([expect.stringContaining('DATABASE_URL'), 'A worker did not start.']);
  });
});
