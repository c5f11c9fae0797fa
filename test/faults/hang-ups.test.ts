import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type ServiceOnPostgres, SOON, startOnPostgres } from '../support/processes/service-on-postgres.ts';
import { type Holder, signUpAt } from '../support/processes/sessions-under-load.ts';
import { freePort } from '../support/servers/free-port.ts';
import { canStartServers } from '../support/servers/of-the-tests.ts';

const CROWD = 10;
/** Milliseconds. */
const RACE_WINDOW = 1_000;
const DATABASE_LOCKS = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** A client without a key and without patience: it sends a refresh, hangs up, and has only its old token then. */
const sendRefresh = async (url: string, cookie: string, connection: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  const head = [`POST /auth/refresh-token HTTP/1.1`, `Host: ${hostname}`, `Cookie: ${cookie}`, 'Content-Length: 0'];
  await new Promise((resolve) => socket.write(`${head.join('\r\n')}\r\nConnection: ${connection}\r\n\r\n`, resolve));
  return socket;
};
const hangUp = async (socket: Socket): Promise<void> => {
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
};
const CONNECTIONS = ['keep-alive', 'close'] as const;

describe.runIf(canStartServers())('clients that hang up', () => {
  let service: ServiceOnPostgres;
  let metrics: string;
  beforeAll(async () => {
    const port = await freePort();
    metrics = `http://127.0.0.1:${port}/metrics`;
    service = await startOnPostgres({
      METRICS: String(port),
      JWT_REFRESH_RACE_WINDOW: `${RACE_WINDOW / 1_000}s`,
      JWT_REFRESH_REPLAY_WINDOW: '0',
    });
  });

  const outcomes = async (): Promise<Record<string, number>> => {
    const text = await (await fetch(metrics)).text();
    return Object.fromEntries(
      [...text.matchAll(/^tandem_refreshes_total\{outcome="([a-z]+)"\} (\d+)$/gm)].map(([, name, count]) => [
        name,
        Number(count),
      ]),
    );
  };
  /** Waits until so many refreshes have an outcome. @returns how many more there are of each since `before`. */
  const untilCounted = async (before: Record<string, number>, count: number) => {
    const more = async () => {
      const now = await outcomes();
      const all = Object.entries(now).map(([name, value]) => [name, value - (before[name] ?? 0)] as const);
      return Object.fromEntries(all.filter(([, value]) => value > 0));
    };
    await vi.waitFor(async () => {
      const sum = Object.values(await more()).reduce((a, b) => a + b, 0);
      expect(sum).toBeGreaterThanOrEqual(count);
    }, SOON);
    return more();
  };
  const oldCookie = ({ cookies }: Holder): string => cookies()[0] ?? '';
  const afterTheRaceWindow = () => pause(RACE_WINDOW + 1_100);

  it(`leave ${CROWD} sessions as they were, in a process that gets no time: the old tokens work when they come back`, async () => {
    const holders: Holder[] = [];
    while (holders.length < CROWD) holders.push(await signUpAt(service.url()));
    const before = await outcomes();
    await service.whileStopped(async () => {
      for (const [index, holder] of holders.entries())
        await hangUp(await sendRefresh(service.url(), oldCookie(holder), CONNECTIONS[index % 2] ?? ''));
    });
    expect(await untilCounted(before, CROWD)).toEqual({ unsent: CROWD });
    await afterTheRaceWindow();
    const statuses = [];
    for (const { refresh } of holders) statuses.push((await refresh(service.url())).status);
    expect(statuses).toEqual(Array(CROWD).fill(200));
  });

  it.each(CONNECTIONS)('while the database is busy with their rotation: it is reverted, %s', async (connection) => {
    const holder = await signUpAt(service.url());
    const before = await outcomes();
    await service.whileRowsLocked(async () => {
      const socket = await sendRefresh(service.url(), oldCookie(holder), connection);
      await vi.waitFor(async () => expect(await service.query(DATABASE_LOCKS)).toHaveLength(1), SOON);
      await hangUp(socket);
    });
    expect(await untilCounted(before, 1)).toEqual({ unsent: 1 });
    await afterTheRaceWindow();
    expect(await holder.refresh(service.url())).toMatchObject({ status: 200 });
  });
});
