import type { Adapter, AdapterPayload } from 'oidc-provider';

/** All artifacts of one model, by their ids. Nothing expires within a run. */
type Stored = Map<string, AdapterPayload>;

const models = new Map<string, Stored>();

/** A store in memory that keeps everything: the built-in one forgets all but the newest thousand artifacts. */
export class OidcStore implements Adapter {
  readonly #stored: Stored;

  constructor(model: string) {
    this.#stored = models.get(model) ?? new Map();
    models.set(model, this.#stored);
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#stored.set(id, payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#stored.get(id);
  }

  async consume(id: string): Promise<void> {
    const payload = this.#stored.get(id);
    if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#stored.delete(id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#first((payload) => payload.uid === uid);
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#first((payload) => payload.userCode === userCode);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, payload] of this.#stored) if (payload.grantId === grantId) this.#stored.delete(id);
  }

  #first(matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    return [...this.#stored.values()].find(matches);
  }
}
