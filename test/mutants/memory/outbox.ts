import { type Outbox, REQUESTS_PER_NETWORK, REQUESTS_WAITING } from '../../../src/application/ports/outbox.ts';
import { isRequest, type Message, waitsForPoll } from '../../../src/domain/message.ts';
import { memoryTables, type Tables } from './tables.ts';

type Waiting = Message & { readonly nextAttemptAt: number; readonly isUnclaimedRequest: boolean };
/** `refilledAt`: when it may get the whole burst again. */
type Mailbox = { readonly mailbox: string; readonly refilledAt: number };
type MemoryOutbox = Outbox & { removeOfUser(userId: string): void };

/** Keeps messages in memory until the process ends. */
export const memoryOutbox = (tables: Tables = memoryTables()): MemoryOutbox => {
  const messages = tables.open<Waiting>('outbox');
  const mailboxes = tables.open<Mailbox>('mailboxes');
  const all = () => [...messages.values()];
  const change = (id: string, changes: Partial<Waiting>): boolean => {
    const message = messages.get(id);
    if (message !== undefined) messages.set(id, { ...message, ...changes });
    return message !== undefined;
  };
  const requests = () => all().filter(({ isUnclaimedRequest }) => isUnclaimedRequest);
  const isWelcome = (added: Message): boolean => {
    if (!isRequest(added)) return true;
    const waiting = requests();
    const isAskedAlready = waiting.some(({ kind, to }) => kind === added.kind && to === added.to);
    const ofNetwork = waiting.filter(({ origin }) => origin.address === added.origin.address);
    return waiting.length < REQUESTS_WAITING && ofNetwork.length < REQUESTS_PER_NETWORK && !isAskedAlready;
  };
  const toMessage = ({ nextAttemptAt: _at, isUnclaimedRequest: _is, ...message }: Waiting): Message => message;

  return {
    async add(added) {
      const isHalfFull = added.some(isRequest) && requests().length >= REQUESTS_WAITING / 2;
      for (const message of added) {
        if (!isWelcome(message)) continue;
        const [nextAttemptAt, isUnclaimedRequest] = [message.createdAt, isRequest(message)];
        messages.set(message.id, { ...message, nextAttemptAt, isUnclaimedRequest });
      }
      return isHalfFull;
    },
    async claim({ now, lastPolledAt = now, until, limit }) {
      const due = all()
        .filter((message) => message.nextAttemptAt <= (waitsForPoll(message) ? Math.min(lastPolledAt, now) : now))
        .sort((a, b) => a.nextAttemptAt - b.nextAttemptAt || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(({ attempts, ...message }) => ({
          ...message,
          attempts: attempts + 1,
          nextAttemptAt: until,
          isUnclaimedRequest: false,
        }));
      for (const message of due) messages.set(message.id, message);
      return due.map(toMessage);
    },
    identify: async (id, { kind, userId }) => change(id, { kind, userId }),
    async postpone(id, until) {
      change(id, { nextAttemptAt: until });
    },
    async remove(ids) {
      for (const id of ids) messages.delete(id);
    },
    listByUser: async (userId) =>
      all()
        .filter((message) => message.userId === userId)
        .map(toMessage),
    async admit({ mailbox, now, burst, interval }) {
      const refilledAt = Math.max(mailboxes.get(mailbox)?.refilledAt ?? now, now);
      if (refilledAt > now + (burst - 1) * interval) return false;
      mailboxes.set(mailbox, { mailbox, refilledAt: refilledAt + interval });
      return true;
    },
    async purge(now, limit) {
      const refilled = [...mailboxes.values()].filter(({ refilledAt }) => refilledAt <= now).slice(0, limit);
      for (const { mailbox } of refilled) mailboxes.delete(mailbox);
      return refilled.length;
    },
    waiting: async () => ({
      count: messages.size,
      since: messages.size === 0 ? null : Math.min(...all().map(({ createdAt }) => createdAt)),
    }),
    removeOfUser(userId) {
      for (const { id, userId: owner } of all()) if (owner === userId) messages.delete(id);
    },
  };
};
