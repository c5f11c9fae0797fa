import type { Client } from './http.ts';
import { percentile } from './statistics.ts';

const CONCURRENCY = 64;
/** Milliseconds. */
const DURATION = 5_000;

/** How long a refresh takes while nothing else happens, and while as many log in as the lane admits. */
export const benchFlood = async (client: Client, account: string, password: string): Promise<void> => {
  const signIn = await client.post('/auth/login', { account, password });
  let cookie = cookieOf(signIn.headers['set-cookie']);
  const refreshes = async (): Promise<number[]> => {
    const durations: number[] = [];
    const until = performance.now() + DURATION;
    while (performance.now() < until) {
      const startedAt = performance.now();
      const answer = await client.post('/auth/refresh-token', undefined, { Cookie: cookie });
      if (answer.status !== 200) throw new Error(`refresh answered ${answer.status}`);
      durations.push(performance.now() - startedAt);
      cookie = cookieOf(answer.headers['set-cookie']);
    }
    return durations;
  };
  report('refresh, idle: ', await refreshes());
  let flooding = true;
  const flood = Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (flooding) await client.post('/auth/login', { account, password });
    }),
  );
  report(`refresh, ${CONCURRENCY} log in:`, await refreshes());
  flooding = false;
  await flood;
};

const cookieOf = (setCookie: readonly string[] | undefined): string => setCookie?.[0]?.split(';')[0] ?? '';

const report = (what: string, durations: readonly number[]): void => {
  const [p50, p99] = [50, 99].map((percent) => percentile(durations, percent).toFixed(1));
  console.log(`${what} p50 ${p50} ms, p99 ${p99} ms (${durations.length} refreshes)`);
};
