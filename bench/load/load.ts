import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Call, connect, isExpected } from './connection.ts';

/** Somebody who sends one request after the other. */
export type Actor = {
  readonly next: () => Call;
  /** Told of each answer that was expected. */
  readonly heard?: (answer: Answer) => void;
};

/** Actors with a connection each. `every`: milliseconds between the beginnings of two requests, at least. */
export type Group = { readonly origin: string; readonly actors: readonly Actor[]; readonly every?: number };

/** What is counted begins after `warmUp`. Milliseconds. */
export type Span = { readonly warmUp: number; readonly duration: number };

export type Measured = {
  readonly perSecond: number;
  /** All answers since the warm-up, with those to requests that were under way at the end. */
  readonly count: number;
  /** Milliseconds from a request to its answer, of all requests that began after the warm-up, however late they were answered. */
  readonly latencies: readonly number[];
};

/**
 * Has all groups work at the same time.
 * @returns what each group achieved.
 * @throws Error that counts the answers that were not expected, if there was one.
 */
export const load = async (groups: readonly Group[], { warmUp, duration }: Span): Promise<Measured[]> => {
  const from = performance.now() + warmUp;
  const until = from + duration;
  const problems: Problems = new Map();

  const work = async ({ origin, actors, every = 0 }: Group): Promise<Measured> => {
    const latencies: number[] = [];
    let count = 0;
    let inTime = 0;
    const act = async ({ next, heard }: Actor) => {
      const { send, close } = connect(origin);
      for (let startedAt = performance.now(); startedAt < until; startedAt = performance.now()) {
        const call = next();
        const answer = await send(call);
        const now = performance.now();
        if (isExpected(call, answer)) heard?.(answer);
        else note(problems, call, answer);
        if (now >= from) count += 1;
        if (now >= from && now < until) inTime += 1;
        if (startedAt >= from) latencies.push(now - startedAt);
        const rest = startedAt + every - performance.now();
        if (rest > 0) await pause(rest);
      }
      await close();
    };
    await Promise.all(actors.map(act));
    return { latencies, count, perSecond: (inTime * 1_000) / duration };
  };

  const measured = await Promise.all(groups.map(work));
  if (problems.size > 0) throw new Error(`unexpected answers: ${list(problems)}`);
  return measured;
};

/** How often something that was not expected was answered, and the first of these answers. */
type Problems = Map<string, { count: number; readonly body: string }>;

const note = (problems: Problems, { method, path }: Call, { status, body }: Answer): void => {
  const what = `${method} ${path}: ${status}`;
  const known = problems.get(what) ?? { count: 0, body };
  known.count += 1;
  problems.set(what, known);
};

const list = (problems: Problems): string =>
  [...problems].map(([what, { count, body }]) => `${count} × ${what}, first ${body.slice(0, 200)}`).join('; ');

/** One answer to each call, so many at once. @throws Error for an answer that was not expected. */
export const sendAll = async (origin: string, calls: readonly Call[], atOnce = 8): Promise<Answer[]> => {
  const answers: Answer[] = [];
  let next = 0;
  const work = async () => {
    const { send, close } = connect(origin);
    for (let index = next++; index < calls.length; index = next++) {
      const call = calls[index] as Call;
      const answer = await send(call);
      if (!isExpected(call, answer)) throw new Error(`${call.method} ${call.path}: ${answer.status} ${answer.body}`);
      answers[index] = answer;
    }
    await close();
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, calls.length) }, work));
  return answers;
};
