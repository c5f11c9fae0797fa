import { expect } from 'vitest';
import { REQUESTS_PER_NETWORK, REQUESTS_WAITING } from '../../../src/application/ports/outbox.ts';
import { aMessage, anId, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { aRequest, claim, type GivenMessages, idsOf, ORIGIN } from './store.ts';

const fromNetwork = (network: number, at: number) =>
  aRequest({ to: `${network}.${at}@example.org`, origin: { ...ORIGIN, address: `network ${network}` } });
/** As many of each network as may wait. */
const fromManyNetworks = (count: number) =>
  Array.from({ length: count }, (_, at) => fromNetwork(Math.floor(at / REQUESTS_PER_NETWORK), at));

export const requesting = ({ it }: Tests<GivenMessages>): void => {
  it('keeps one request of each kind for an address until it is claimed', async ({ repository: outbox, owner }) => {
    const kept = [aRequest(), aRequest({ kind: 'email-verification-request' }), aRequest({ to: 'other@example.org' })];
    const refused = [aRequest({ createdAt: NOW - 1 }), aRequest({ kind: 'email-verification-request' })];
    const others = [aMessage({ userId: owner }), aMessage({ userId: owner })];
    await outbox.add([...kept, ...refused, ...others]);
    expect(idsOf(await claim(outbox))).toEqual(idsOf([...kept, ...others]));
    // What was claimed is being answered.
    const next = aRequest();
    await outbox.add([next, aRequest()]);
    expect((await outbox.waiting()).count).toBe(kept.length + others.length + 1);
    await outbox.remove([next.id]);
    await outbox.add([aRequest(), aRequest()]);
    expect((await outbox.waiting()).count).toBe(kept.length + others.length + 1);
  });

  it('keeps one of many requests for an address that come at the same time', async (given) => {
    const { repository, anotherIfAny } = given;
    await atBoth(await anotherIfAny(), repository, (outbox) =>
      Promise.all(Array.from({ length: 30 }, () => outbox.add([aRequest()]))),
    );
    expect((await repository.waiting()).count).toBe(1);
  });

  it('keeps a bounded number of requests, of one network and of all', async ({ repository: outbox, owner }) => {
    const ofOne = Array.from({ length: REQUESTS_PER_NETWORK + 3 }, (_, at) => fromNetwork(0, at));
    await outbox.add(ofOne);
    expect((await outbox.waiting()).count).toBe(REQUESTS_PER_NETWORK);
    const requests = fromManyNetworks(REQUESTS_WAITING + 3);
    await outbox.add(requests.slice(REQUESTS_PER_NETWORK));
    expect((await outbox.waiting()).count).toBe(REQUESTS_WAITING);
    const other = aMessage({ userId: owner });
    await outbox.add([other]);
    expect((await outbox.waiting()).count).toBe(REQUESTS_WAITING + 1);
    await outbox.remove([ofOne[0]?.id ?? '']);
    const [late, later] = [fromNetwork(-1, 0), fromNetwork(-1, 1)];
    await outbox.add([late, later]);
    // The later ones were dropped.
    const kept = [
      ...ofOne.slice(1, REQUESTS_PER_NETWORK),
      ...requests.slice(REQUESTS_PER_NETWORK, REQUESTS_WAITING),
      other,
      late,
    ];
    expect(idsOf(await claim(outbox, NOW, 2 * REQUESTS_WAITING))).toEqual(idsOf(kept));
    expect((await outbox.waiting()).count).toBe(REQUESTS_WAITING + 1);
    // What was claimed takes no room from its network.
    await outbox.add([fromNetwork(0, -1), fromNetwork(0, -2)]);
    expect((await outbox.waiting()).count).toBe(REQUESTS_WAITING + 3);
  });

  it('says when half of the requests wait that may', async ({ repository: outbox, owner }) => {
    const half = fromManyNetworks(REQUESTS_WAITING / 2);
    expect(await outbox.add(half.slice(1))).toBe(false);
    expect(await outbox.add(half.slice(0, 1))).toBe(false);
    expect(await outbox.add([fromNetwork(-1, 0)])).toBe(true);
    expect(await outbox.add([aMessage({ userId: owner })])).toBe(false);
    await claim(outbox, NOW, 100);
    expect(await outbox.add([fromNetwork(-1, 1)])).toBe(false);
  });

  it('names the user of a message, once it is known', async ({ repository: outbox, owner, otherUser }) => {
    const request = aRequest({ origin: ORIGIN });
    await outbox.add([request]);
    const identity = { kind: 'password-reset', userId: owner } as const;
    expect(await outbox.identify(request.id, identity)).toBe(true);
    expect(await outbox.identify(anId(), identity)).toBe(false);
    expect(await outbox.listByUser(owner)).toStrictEqual([{ ...request, ...identity }]);
    expect(await outbox.listByUser(otherUser)).toEqual([]);
  });
};
