import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { watchedOutbox, watchedUnitOfWork } from '../../src/adapters/records/wrappers.ts';
import { REQUESTS_WAITING } from '../../src/application/ports/outbox.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import { MESSAGE_KINDS, type MessageKind } from '../../src/domain/message.ts';
import { aMessage } from '../support/builders.ts';

/** Kinds whose work could be seen in the time of a response, and show that an address has an account. */
const WAITING: readonly MessageKind[] = [
  'password-reset-request',
  'email-verification-request',
  'email-verification',
  'address-taken',
];

/** How often the sender is woken when messages of these kinds are added. */
const wakings = async (...kinds: readonly MessageKind[]) => {
  const { unitOfWork, outbox } = memoryStorage();
  let woken = 0;
  const wake = () => {
    woken += 1;
  };
  const messages = () => kinds.map((kind) => aMessage({ kind, userId: null }));
  await watchedOutbox(outbox, wake).add(messages());
  await watchedUnitOfWork(unitOfWork, wake).run((stores) => stores.outbox.add(messages()));
  return woken;
};

describe('a message that is added to a watched outbox', () => {
  it.each(WAITING)(
    'waits for the next poll of the sender if the time of a response could reveal it: %s',
    async (kind) => {
      expect(await wakings(kind)).toBe(0);
    },
  );

  it.each(MESSAGE_KINDS.filter((kind) => !WAITING.includes(kind)))('wakes the sender: %s', async (kind) => {
    expect(await wakings(kind)).toBe(2);
    expect(await wakings('password-reset-request', kind)).toBe(2);
  });

  it('wakes the sender for all messages when half of the requests wait that may', async () => {
    const rings: boolean[] = [];
    const { outbox } = memoryStorage();
    const watched = watchedOutbox(outbox, (isForAll) => rings.push(isForAll));
    for (let count = 0; count <= REQUESTS_WAITING / 2; count += 1) {
      const origin = { ...NO_ORIGIN, address: `network ${count}` };
      await watched.add([
        aMessage({ kind: 'password-reset-request', userId: null, to: `${count}@example.org`, origin }),
      ]);
    }
    expect(rings).toEqual([true]);
  });

  it('wakes nobody when there is none', async () => {
    expect(await wakings()).toBe(0);
  });
});
