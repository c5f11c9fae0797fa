import { etagOf } from '../documents.ts';

/** Milliseconds in which a form that is sent again is a second click. */
const REMEMBERED = 10_000;
/** About 2 KB each. */
const CAPACITY = 5_000;

/**
 * Answers a form that a browser sends twice with the answer to the first one: it throws that away, with its cookies, and a code is used by then.
 * A hidden random number of each form tells a second click from a second attempt. Per process: behind a load balancer, the connection of
 * the first click usually takes the second one as well.
 */
export const repeatedClicks = <Answer>(
  /** A fault of the service may be over when the form is sent again. */
  isKept: (answer: Answer) => boolean,
  now: () => number = () => performance.now(),
) => {
  const answers = new Map<string, { readonly at: number; readonly answer: Promise<Answer> }>();
  const removeOld = (): void => {
    for (const [key, { at }] of answers) {
      if (now() - at < REMEMBERED && answers.size <= CAPACITY) return;
      answers.delete(key);
    }
  };
  /** @param form all that was sent, with its number; `null`: it has none, so that it is no second click. */
  return (form: string | null, work: () => Promise<Answer>): Promise<Answer> => {
    if (form === null) return work();
    removeOld();
    const key = etagOf(form);
    const known = answers.get(key);
    if (known !== undefined) return known.answer;
    const answer = work();
    answer.then(
      (given) => isKept(given) || answers.delete(key),
      () => answers.delete(key),
    );
    answers.set(key, { at: now(), answer });
    return answer;
  };
};
