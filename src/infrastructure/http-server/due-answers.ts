import type { ServerResponse } from 'node:http';

/** The responses of one connection that are not completely sent, in the order of their requests. */
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

  /** Calls `act` when all responses that are pending now have been sent, except for one. */
  whenSent(except: ServerResponse | null, act: () => void): void {
    const awaited = [...this.#answers].filter((answer) => answer !== except);
    this.#proceed = () => {
      if (awaited.some((answer) => this.#answers.has(answer))) return;
      this.#proceed = () => undefined;
      act();
    };
    this.#proceed();
  }

  /** Forgets all responses: nothing is sent any more. */
  clear(): void {
    this.#answers.clear();
    this.#proceed = () => undefined;
  }
}
