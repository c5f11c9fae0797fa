import { expect } from 'vitest';
import type { Outbox } from '../../../src/application/ports/outbox.ts';
import { NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import type { GivenMessages } from './store.ts';

const INTERVAL = 1_000;

const admit = (
  outbox: Outbox,
  given: { readonly mailbox?: string; readonly now?: number; readonly burst?: number } = {},
) => outbox.admit({ mailbox: 'a hash', now: NOW, burst: 2, interval: INTERVAL, ...given });

/** How many of so many mails at once are admitted. */
const admitted = async (outbox: Outbox, count: number, given: Parameters<typeof admit>[1] = {}): Promise<number> => {
  const answers = await Promise.all(Array.from({ length: count }, () => admit(outbox, given)));
  return answers.filter(Boolean).length;
};

export const admitting = ({ it }: Tests<GivenMessages>): void => {
  it('admits as many mails to a mailbox at once as the burst, and then one in each interval', async (given) => {
    const { repository: outbox } = given;
    expect(await admitted(outbox, 5)).toBe(2);
    expect(await admitted(outbox, 5, { burst: 3 })).toBe(1);
    expect(await admitted(outbox, 5, { mailbox: 'another hash' })).toBe(2);
    // Three were admitted, so the fourth is the one after two intervals.
    expect(await admit(outbox, { now: NOW + 2 * INTERVAL - 1 })).toBe(false);
    expect(await admitted(outbox, 5, { now: NOW + 2 * INTERVAL })).toBe(1);
    expect(await admitted(outbox, 5, { now: NOW + 100 * INTERVAL })).toBe(2);
  });

  it('admits no more when two instances ask at the same time', async ({ repository, anotherIfAny }) => {
    const counts = await atBoth(await anotherIfAny(), repository, (outbox) => admitted(outbox, 30, { burst: 7 }));
    expect(counts[0] + counts[1]).toBe(7);
  });

  it('purges the counts of mailboxes that may get the whole burst again, and only those', async (given) => {
    const { repository: outbox } = given;
    for (const mailbox of ['a', 'b', 'c']) await admit(outbox, { mailbox });
    await admit(outbox, { mailbox: 'd', now: NOW + 1 });
    expect(await outbox.purge(NOW + INTERVAL - 1, 10)).toBe(0);
    expect(await outbox.purge(NOW + INTERVAL, 2)).toBe(2);
    expect([await outbox.purge(NOW + INTERVAL, 2), await outbox.purge(NOW + INTERVAL, 2)]).toEqual([1, 0]);
    expect(await admitted(outbox, 5, { mailbox: 'd', now: NOW + INTERVAL })).toBe(1);
  });
};
