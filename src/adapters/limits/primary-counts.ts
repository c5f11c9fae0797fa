import { LoggableError } from '../log/redact-error.ts';
import type { Counts } from './counts.ts';
import { withResponseTimeout } from './response-timeout.ts';

/** A method of `Counts`, and its arguments. */
type Question = readonly [keyof Counts, readonly unknown[]];
/** What a worker asks in one message, with a number of its own, and the results in the same order. */
type Questions = { readonly countsAsked: number; readonly questions: readonly Question[] };
type Results = { readonly countsAnswered: number; readonly results: readonly unknown[] };

/** Milliseconds. Long, so that limits stay exact on a machine that is overloaded. */
const TIMEOUT = 5_000;

const has = (message: unknown, name: string): boolean =>
  typeof message === 'object' && message !== null && name in message;
/** Libraries send messages of their own. */
const isQuestions = (message: unknown): message is Questions => has(message, 'countsAsked');
const isResults = (message: unknown): message is Results => has(message, 'countsAnswered');

/** In the primary process: answers the message of a worker, if it asks for counts. */
export const answerCounts = async (
  counts: Counts,
  message: unknown,
  send: (results: Results) => void,
): Promise<void> => {
  if (!isQuestions(message)) return;
  // Workers have the same version, so these are arguments of the method.
  const answer = ([name, given]: Question) => (counts[name] as (...given: readonly unknown[]) => unknown)(...given);
  send({ countsAnswered: message.countsAsked, results: await Promise.all(message.questions.map(answer)) });
};

export type Channel = {
  readonly send: (questions: Questions) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
};

/**
 * In a worker: the counts of the primary process, which asks for all that one turn of the event loop needs in one message. Rejects when there is
 * no answer in time.
 */
export const primaryCounts = ({ send, onMessage }: Channel, timeout = TIMEOUT): Counts => {
  const waiting = new Map<number, (results: readonly unknown[]) => void>();
  let last = 0;
  let next: { readonly questions: Question[]; readonly results: Promise<readonly unknown[]> } | null = null;
  onMessage((message) => {
    if (isResults(message)) waiting.get(message.countsAnswered)?.(message.results);
  });
  const begin = () => {
    last += 1;
    const [number, questions] = [last, [] as Question[]];
    const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
    waiting.set(number, resolve);
    setImmediate(() => {
      next = null;
      send({ countsAsked: number, questions });
    });
    const silence = () => new LoggableError('no answer in time');
    return { questions, results: withResponseTimeout(timeout, promise, silence).finally(() => waiting.delete(number)) };
  };
  const method = <Name extends keyof Counts>(name: Name) =>
    (async (...given: Parameters<Counts[Name]>) => {
      next ??= begin();
      const { questions, results } = next;
      const at = questions.push([name, given]) - 1;
      return (await results)[at];
    }) as Counts[Name];
  return { countRequest: method('countRequest'), replace: method('replace') };
};
