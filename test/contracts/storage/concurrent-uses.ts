import { expect } from 'vitest';
import { removeMassEnded } from '../../../src/application/sessions/purge.ts';
import {
  devicesOf,
  putInvitation,
  putLink,
  storeRecoveryCodes,
  takeInvitation,
  takeLink,
  useOnce,
  useRecoveryCode,
  useStep,
} from '../../../src/application/storage/credentials.ts';
import { addEvents, eventsOf, takeOperatorEvents } from '../../../src/application/storage/events.ts';
import { addMessages, admitMail, claimMessages, waitingMessages } from '../../../src/application/storage/outbox.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import { purgeRows, removeRow } from '../../../src/application/storage/rows.ts';
import { claimDeliveries } from '../../../src/application/storage/webhooks.ts';
import { COUNTING_PERIOD } from '../../../src/domain/event.ts';
import { partWithUser } from '../../../src/domain/session.ts';
import {
  aFactor,
  aLink,
  aMessage,
  anEvent,
  anId,
  anIdentity,
  anInvitation,
  aPasskey,
  aRememberedDevice,
  aRotation,
  aSession,
  aWebhook,
  NOW,
} from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenStorage, idsOf, ORIGIN, raced } from './given.ts';
import { foundWithUser } from './given-sessions.ts';

const RACERS = 40;
const deps = {
  clock: { now: () => NOW },
  ids: { next: anId },
  secrets: { random: anId, hashOf: (text: string) => `hash of ${text}` },
};

export const concurrentUses = ({ it }: Tests<GivenStorage>): void => {
  it('gives what several callers use up, take or remove at the same time to one of them', async ({
    records,
    another,
    owner,
  }) => {
    const [factor, passkey, identity] = [aFactor, aPasskey, anIdentity].map((make) => make({ userId: owner })) as [
      ReturnType<typeof aFactor>,
      ReturnType<typeof aPasskey>,
      ReturnType<typeof anIdentity>,
    ];
    const [link, invitation] = [aLink({ userId: owner }), anInvitation()];
    await records.insert('factors', factor);
    await records.insert('passkeys', passkey);
    await records.insert('identities', identity);
    await storeRecoveryCodes(records, owner, ['one']);
    await putLink(records, link);
    await putInvitation(records, invitation);
    const uses: readonly ((instance: Records) => Promise<unknown>)[] = [
      (instance) => useOnce(instance, `value ${factor.id}`, NOW),
      (instance) => useStep(instance, factor, 7, NOW),
      (instance) => useRecoveryCode(instance, owner, 'one'),
      (instance) => takeLink(instance, link.purpose, link.tokenHash, NOW),
      (instance) => takeInvitation(instance, invitation, NOW),
      (instance) => removeRow(instance, 'passkeys', { id: passkey.id, userId: passkey.userId }),
      (instance) => removeRow(instance, 'identities', { id: identity.id, userId: identity.userId }),
    ];
    for (const use of uses) {
      const outcomes = await raced([records, another.records], RACERS, use);
      expect(outcomes.filter((outcome) => outcome !== false && outcome !== null)).toHaveLength(1);
    }
  });

  it('hands out each message, each delivery to a webhook and each event of an operator to one of several callers', async (given) => {
    const { records, stores, another, owner } = given;
    const messages = Array.from({ length: 60 }, () => aMessage({ userId: owner }));
    await addMessages(stores, messages);
    const until = NOW + 60_000;
    const claimed = await raced([records, another.records], 8, (instance) =>
      claimMessages(instance, { now: NOW, until, limit: 10 }),
    );
    const rest = await claimMessages(records, { now: NOW, until, limit: 100 });
    expect(idsOf([...claimed.flat(), ...rest]).toSorted()).toEqual(idsOf(messages).toSorted());

    const webhook = aWebhook();
    await records.insert('webhooks', webhook);
    await takeOperatorEvents(stores, 1_000);
    const events = Array.from({ length: 40 }, () => anEvent({ userId: owner, kind: 'disabled', actor: 'Bo' }));
    await addEvents(deps, stores, events);
    const deliveries = await raced([records, another.records], 20, (instance) =>
      claimDeliveries(instance, { webhookId: webhook.id, now: NOW + 100, until, limit: 9 }),
    );
    expect(deliveries.flat()).toMatchObject([{ userId: owner, sequence: 1 }]);
    const taken = await raced([stores, another], 8, (instance) => takeOperatorEvents(instance, 3));
    const ids = idsOf([...taken.flat(), ...(await takeOperatorEvents(stores, 100))]);
    expect(ids.toSorted()).toEqual(idsOf(events));
  });

  it('counts every log-in and every mail, keeps one request of an address, and purges each row once', async (given) => {
    const { records, stores, another, owner } = given;
    const at = NOW - (NOW % COUNTING_PERIOD);
    const both = [stores, another] as const;
    for (const kind of ['login-refused', 'logged-in'] as const)
      await raced(both, RACERS, (instance) =>
        addEvents(deps, instance, [anEvent({ userId: owner, kind, at, ...ORIGIN })]),
      );
    const counted = await eventsOf(records, { userId: owner, before: null, limit: 9 });
    expect(counted.map(({ count }) => count)).toEqual([RACERS, RACERS]);
    const admitted = await raced([records, another.records], RACERS, (instance) =>
      admitMail(instance, { mailbox: `of ${owner}`, now: NOW, burst: 7, interval: 1_000 }),
    );
    expect(admitted.filter(Boolean)).toHaveLength(7);
    const { count: before } = await waitingMessages(records);
    const request = { kind: 'password-reset-request', userId: null, to: `${owner}@example.org` } as const;
    await raced(both, RACERS, (instance) => addMessages(instance, [aMessage(request)]));
    expect((await waitingMessages(records)).count).toBe(before + 1);
    for (let value = 0; value < 60; value += 1) await useOnce(records, `value ${value} of ${owner}`, 1);
    const purged = await raced([records, another.records], 8, (instance) =>
      purgeRows(instance, 'usedValues', { time: 'expiresAt', until: 1, limit: 5 }),
    );
    const rest = await purgeRows(records, 'usedValues', { time: 'expiresAt', until: 1, limit: 1_000 });
    expect(purged.reduce((sum, count) => sum + count, rest)).toBe(60);
  });

  it('hides the sessions and devices that an end of all sessions covers, also sessions that replaced one of them, and keeps their rows', async (given) => {
    const { sessions, records, owner, user } = given;
    const at = NOW + 10;
    const times = [
      { createdAt: NOW, authenticatedAt: NOW },
      { createdAt: at + 1, authenticatedAt: at },
      { createdAt: at, authenticatedAt: at + 1 },
      { createdAt: at + 1, authenticatedAt: at + 1 },
    ];
    const stored = times.map((each) => aSession({ userId: owner, ...each }));
    const [, , , later = expect.unreachable()] = stored;
    for (const each of stored) await sessions.add(each);
    const remembered = [at, at + 1].map((createdAt) => aRememberedDevice({ userId: owner, createdAt }));
    for (const each of remembered) await records.insert('rememberedDevices', each);
    const found = async () => ({
      sessions: (await Promise.all(stored.map((each) => sessions.find(each)))).filter((each) => each !== null),
      withUser: await Promise.all(stored.map(async (each) => (await foundWithUser(sessions, each))?.session ?? null)),
      listed: idsOf(await sessions.listByUser(owner, NOW)),
      devices: idsOf(await devicesOf(records, owner, NOW)),
    });
    expect(await found()).toMatchObject({ sessions: stored, listed: { length: 4 }, devices: idsOf(remembered) });
    await records.insert('massEndings', { id: anId(), at, note: null, actor: null, cursor: null });
    expect(await found()).toStrictEqual({
      sessions: [later],
      withUser: [null, null, null, partWithUser(later)],
      listed: [later.id],
      devices: idsOf(remembered.slice(1)),
    });
    const rotations = stored.map((each) => aRotation(each, { at: at + 2 }));
    const [, , refused, rotated] = await Promise.all(rotations.map((rotation) => sessions.rotate(rotation)));
    expect(refused).toBe('stale');
    expect(rotated).toHaveProperty('user.id', user.id);
    expect(idsOf(await sessions.listAll(null, 9)).toSorted()).toEqual(idsOf(stored).toSorted());
  });

  it('carries out each end of all sessions once, also when several callers wait for it', async ({
    records,
    transactions,
  }) => {
    const endings = Array.from({ length: 6 }, () => ({ id: anId(), at: NOW, note: null, actor: null, cursor: null }));
    for (const each of endings) await records.insert('massEndings', each);
    const step = () => removeMassEnded({ ...deps, transactions })(10);
    expect(await Promise.all(endings.map(step))).toEqual(endings.map(() => 0));
    expect([await step(), await records.list('massEndings', { order: ['id'] })]).toEqual([null, []]);
  });
};
