import { expect } from 'vitest';
import type { Message } from '../../../src/domain/message.ts';
import { aMessage, anId, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { aRequest, claim, type GivenMessages, idsOf, ORIGIN, series } from './store.ts';

export const removing = ({ it }: Tests<GivenMessages>): void => {
  it('removes messages', async ({ repository: outbox, owner }) => {
    const [first, second, third] = [
      aMessage({ userId: owner }),
      aMessage({ userId: owner }),
      aMessage({ userId: owner }),
    ];
    await outbox.add([first, second, third]);
    await outbox.remove([]);
    await outbox.remove([first.id, third.id, anId()]);
    expect(await claim(outbox)).toStrictEqual([{ ...second, attempts: 1 }]);
    expect(await outbox.identify(first.id, first)).toBe(false);
  });

  it('lists the messages about a user', async ({ repository: outbox, owner, otherUser, stranger }) => {
    const [own, ofOther] = [series(owner, 3), series(otherUser, 1)];
    await outbox.add([...own, ...ofOther, aRequest()]);
    const byId = (a: Message, b: Message) => (a.id < b.id ? -1 : 1);
    expect((await outbox.listByUser(owner)).sort(byId)).toStrictEqual(own);
    for (const id of [stranger, '', 'no id', '\0']) expect(await outbox.listByUser(id)).toEqual([]);
  });

  it('says how many messages wait, and since when', async ({ repository: outbox, owner }) => {
    expect(await outbox.waiting()).toStrictEqual({ count: 0, since: null });
    const messages = series(owner, 3);
    await outbox.add(messages.toReversed());
    await claim(outbox);
    expect(await outbox.waiting()).toStrictEqual({ count: 3, since: NOW });
    await outbox.remove([messages[0]?.id ?? '']);
    expect(await outbox.waiting()).toStrictEqual({ count: 2, since: NOW + 1 });
  });

  it('loses the messages about a user who is deleted', async ({ repository: outbox, store, owner, otherUser }) => {
    const [ofOther, request] = [aMessage({ userId: otherUser }), aRequest()];
    await outbox.add([...series(owner, 2), ofOther, request]);
    await store.deleteUser(owner);
    expect(await outbox.listByUser(owner)).toEqual([]);
    expect(idsOf(await claim(outbox))).toEqual(idsOf([ofOther, request]));
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
    const { repository, owner, hook } = given;
    const [message, request] = [aMessage({ userId: owner }), aRequest({ origin: ORIGIN })];
    await repository.add([message, request]);
    const failing = await hook('failing')();
    const calls = [
      () => failing.add([message]),
      () => failing.add([request]),
      () => claim(failing),
      () => failing.identify(request.id, { kind: 'password-reset', userId: owner }),
      () => failing.postpone(message.id, NOW),
      () => failing.remove([message.id]),
      () => failing.listByUser(owner),
      () => failing.admit({ mailbox: 'a hash', now: NOW, burst: 2, interval: 1 }),
      () => failing.purge(NOW, 10),
      () => failing.waiting(),
    ];
    const secrets = [owner, message.id, request.id, message.to, ORIGIN.userAgent, ORIGIN.address];
    for (const call of calls) expectTranslated(await rejection(call()), secrets);
    expect((await repository.waiting()).count).toBe(2);
  });
};
