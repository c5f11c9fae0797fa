import { expect } from 'vitest';
import { anEvent, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { type GivenEvents, listAll, ORIGIN, refusals } from './store.ts';

export const failing = ({ it }: Tests<GivenEvents>): void => {
  it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
    const { repository, owner, hook } = given;
    const event = anEvent({ userId: owner, ...ORIGIN });
    await repository.add([event]);
    const store = await hook('failing')();
    const calls = [
      () => store.add([event]),
      () => store.add([refusals({ userId: owner })]),
      () => store.list({ userId: owner, before: event.id, limit: 1 }),
      () => store.knowsDevice(owner, ORIGIN),
      () => store.countSince(owner, 'logged-in', 0),
      () => store.purge(NOW + 1, 1),
      () => store.takeOperated(1),
    ];
    const secrets = [owner, event.id, ORIGIN.requestId, ORIGIN.userAgent, ORIGIN.address];
    for (const call of calls) expectTranslated(await rejection(call()), secrets);
    expect(await listAll(repository, owner)).toStrictEqual([event]);
  });
};
