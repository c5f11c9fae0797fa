import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { auditedUnitOfWork, auditLog } from '../../src/adapters/records/wrappers.ts';
import { logOperated } from '../../src/application/accounts/operate-accounts.ts';
import type { Stores, UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { type AccountEvent, NO_ORIGIN, newEvent } from '../../src/domain/event.ts';
import { aUser, NOW } from '../support/builders.ts';
import { sequentialIds } from '../support/sequential-ids.ts';

const ids = sequentialIds();
const user = aUser();
const disabled = () => newEvent({ userId: user.id, kind: 'disabled' }, { id: ids.next(), at: NOW, origin: NO_ORIGIN });

const audited = async (wrap = (unitOfWork: UnitOfWork) => unitOfWork) => {
  const { unitOfWork, ...stores } = memoryStorage();
  await stores.users.add(user);
  const reports: (readonly AccountEvent[])[] = [];
  const over = wrap(unitOfWork);
  return {
    ...stores,
    reports,
    unitOfWork: auditedUnitOfWork(over, (events) => reports.push(events)),
  };
};
const addDisabled = ({ events }: Stores) => events.add([disabled()]);

describe('an audited unit of work', () => {
  it('reports its events once, after they are kept', async () => {
    const { unitOfWork, reports } = await audited();
    await unitOfWork.run(async (stores) => {
      await addDisabled(stores);
      expect(reports).toStrictEqual([]);
    });
    expect(reports).toMatchObject([[{ kind: 'disabled', userId: user.id }]]);
  });

  it('reports nothing that was rolled back', async () => {
    const { unitOfWork, reports } = await audited();
    const failing = unitOfWork.run(async (stores) => {
      await addDisabled(stores);
      throw new Error('afterwards');
    });
    await expect(failing).rejects.toThrow('afterwards');
    expect(reports).toStrictEqual([]);
  });

  it('reports the events of the last run of a unit that was run again', async () => {
    const again = (unitOfWork: UnitOfWork): UnitOfWork => ({
      async run(work) {
        await unitOfWork
          .run(async (stores) => {
            await work(stores);
            throw new Error('conflict');
          })
          .catch(() => undefined);
        return unitOfWork.run(work);
      },
    });
    const { unitOfWork, reports, events } = await audited(again);
    await unitOfWork.run(addDisabled);
    expect(await events.list({ userId: user.id, before: null, limit: 5 })).toHaveLength(1);
    expect(reports.flat()).toHaveLength(1);
  });

  it('reports once what operators did in other processes, also to a user who is deleted', async () => {
    const { unitOfWork, reports, users, events } = await audited();
    const origin = { ...NO_ORIGIN, actor: 'Una' };
    await events.add([newEvent({ userId: user.id, kind: 'deleted' }, { id: ids.next(), at: NOW, origin })]);
    await users.remove(user.id);
    const log = logOperated({ unitOfWork });
    expect([await log(5), await log(5)]).toEqual([1, 0]);
    expect(reports.flat()).toMatchObject([{ kind: 'deleted', userId: user.id, actor: 'Una', at: NOW }]);
  });

  it('reports refused log-ins with their count', async () => {
    const { unitOfWork, reports } = await audited();
    const refused = {
      id: ids.next(),
      userId: user.id,
      at: NOW,
      count: 7,
      requestId: 'r',
      userAgent: null,
      address: null,
    };
    await unitOfWork.run(({ events }) => events.addRefusedLogins([refused]));
    expect(reports).toMatchObject([[{ kind: 'login-refused', count: 7, userId: user.id }]]);
  });
});

describe('the audit log', () => {
  it('has a line for each event but sessions that have expired, which are counted nevertheless', () => {
    const lines: { readonly level: number; readonly reason?: string }[] = [];
    const counted: AccountEvent[] = [];
    const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
    const ended = (reason: 'expired' | 'logout' | 'token-replayed') => ({
      ...disabled(),
      kind: 'session-ended' as const,
      reason,
    });
    auditLog(logger, (event) => counted.push(event))([ended('logout'), ended('expired'), ended('token-replayed')]);
    expect(lines.map(({ level, reason }) => [level, reason])).toEqual([
      [30, 'logout'],
      [40, 'token-replayed'],
    ]);
    expect(counted.map(({ reason }) => reason)).toEqual(['logout', 'expired', 'token-replayed']);
  });
});
