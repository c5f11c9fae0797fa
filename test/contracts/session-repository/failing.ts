import { expect } from 'vitest';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { aRotation, aSession, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { DEVICE, type GivenSessions } from './store.ts';

export const failing = ({ it }: Tests<GivenSessions>): void => {
  it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
    const { sessions, stored, hook } = given;
    const session = await stored(DEVICE);
    const failing = await hook('failing')();
    const rotation = aRotation(session);
    const calls: ((repository: SessionRepository) => Promise<unknown>)[] = [
      (repository) => repository.add(aSession({ ...session, ...DEVICE })),
      (repository) => repository.find(session),
      (repository) => repository.findWithUser(session),
      (repository) => repository.rotate(rotation),
      (repository) => repository.revert(rotation),
      (repository) => repository.useProof(session, { key: 'a key', number: 1 }),
      (repository) => repository.bindPage(session, 'a key'),
      (repository) => repository.bindBrowser(session, 'a key'),
      (repository) => repository.end(session),
      (repository) => repository.listByUser(session.userId, NOW),
      (repository) => repository.endByUser(session.userId, null),
      (repository) => repository.endByUser(session.userId, session.id),
    ];
    calls.push((repository) => repository.purge(NOW, 10));
    const secrets = [session.id, session.userId, session.currentTokenId, rotation.to, DEVICE.userAgent, DEVICE.address];
    for (const call of calls) expectTranslated(await rejection(call(failing)), secrets);
    expect(await sessions.find(session)).toStrictEqual(session);
  });
};
