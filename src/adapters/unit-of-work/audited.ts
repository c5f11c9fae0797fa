import type { EventRepository } from '../../application/ports/event-repository.ts';
import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import type { UserRepository } from '../../application/ports/user-repository.ts';
import type { AccountEvent } from '../../domain/event.ts';

/** An event that was stored. */
export type AuditedEvent = AccountEvent & {
  /** The user's name; `null` unless names are asked for, and for what the service does by itself. */
  readonly account: string | null;
};

type AuditOptions = {
  /** Gets what was stored, once, after it is kept. */
  readonly audit: (events: readonly AuditedEvent[]) => void;
  /** Whether to look the names up. */
  readonly withNames: boolean;
};

/** Reports the events of each unit of work after their commit. Those of a unit that failed, or was run again, are not reported. */
export const auditedUnitOfWork = (unitOfWork: UnitOfWork, { audit, withNames }: AuditOptions): UnitOfWork => ({
  async run(work) {
    let kept: AuditedEvent[] = [];
    const result = await unitOfWork.run(async (stores) => {
      const added: AuditedEvent[] = [];
      kept = added;
      const note = async (events: readonly AccountEvent[]) => {
        const names = withNames ? await namesOf(stores.users, events) : NO_NAMES;
        added.push(...events.map((event) => ({ ...event, account: names.get(event.userId) ?? null })));
      };
      return work({ ...stores, events: noting(stores.events, note) } satisfies Stores);
    });
    audit(kept);
    return result;
  },
});

/** Before the work goes on: it may remove the user. */
const noting = (
  events: EventRepository,
  note: (events: readonly AccountEvent[]) => Promise<void>,
): EventRepository => ({
  async add(added) {
    await events.add(added);
    await note(added);
  },
  async addRefusals(refusals) {
    await events.addRefusals(refusals);
    await note(refusals.map((refused) => ({ ...refused, kind: 'login-refused', sessionId: null, reason: null })));
  },
  list: (query) => events.list(query),
  knowsDevice: (userId, device) => events.knowsDevice(userId, device),
  countSince: (userId, kind, since) => events.countSince(userId, kind, since),
  purge: (before, limit) => events.purge(before, limit),
});

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Not for expired sessions: a purge has those of a thousand users. */
const namesOf = async (
  users: UserRepository,
  events: readonly AccountEvent[],
): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>();
  for (const userId of new Set(events.filter(({ reason }) => reason !== 'expired').map((event) => event.userId))) {
    const user = await users.findById(userId);
    if (user !== null) names.set(userId, user.username);
  }
  return names;
};
