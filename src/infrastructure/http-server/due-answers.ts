import type { ServerResponse } from 'node:http';

/** The answers of one connection that were not sent as a whole, in the order of their requests. */
export class DueAnswers {
  readonly #answers = new Set<ServerResponse>();
  #proceed: () => void = () => undefined;

  get count(): number {
    return this.#answers.size;
  }

  get last(): ServerResponse | undefined {
    return [...this.#answers].at(-1);
  }

  add(answer: ServerResponse, onSent: () => void): void {
    this.#answers.add(answer);
    answer.once('close', () => {
      this.#answers.delete(answer);
      this.#proceed();
      onSent();
    });
  }

  /** Acts when all that are due now were sent, but for one. */
  whenSent(except: ServerResponse | null, act: () => void): void {
    const awaited = [...this.#answers].filter((answer) => answer !== except);
    this.#proceed = () => {
      if (awaited.some((answer) => this.#answers.has(answer))) return;
      this.#proceed = () => undefined;
      act();
    };
    this.#proceed();
  }

  /** Nothing is sent any more. */
  clear(): void {
    this.#answers.clear();
    this.#proceed = () => undefined;
  }
}
