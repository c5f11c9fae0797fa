import type { ServerResponse } from 'node:http';

/** The responses of one connection that are not completely sent, in the order of their requests. */
export class PendingResponses {
  readonly #responses = new Set<ServerResponse>();
  #onChange: () => void = () => undefined;

  get count(): number {
    return this.#responses.size;
  }

  get last(): ServerResponse | undefined {
    return [...this.#responses].at(-1);
  }

  add(response: ServerResponse, onSent: () => void): void {
    this.#responses.add(response);
    response.once('close', () => {
      this.#responses.delete(response);
      this.#onChange();
      onSent();
    });
  }

  /** Calls `callback` when all responses that are pending now have been sent, except for one. */
  whenSent(except: ServerResponse | null, callback: () => void): void {
    const awaited = [...this.#responses].filter((response) => response !== except);
    this.#onChange = () => {
      if (awaited.some((response) => this.#responses.has(response))) return;
      this.#onChange = () => undefined;
      callback();
    };
    this.#onChange();
  }

  /** Forgets all responses: nothing is sent any more. */
  clear(): void {
    this.#responses.clear();
    this.#onChange = () => undefined;
  }
}
