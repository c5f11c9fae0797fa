import { describe, expect, it } from 'vitest';
import { factorSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { reEncryptFactors } from '../../../src/application/factors/manage-factors.ts';
import { changeRow, removeRow, withoutVersion } from '../../../src/application/storage/rows.ts';
import { aFactor, anId, aUser } from '../../support/builders.ts';
import { factorKeys } from '../../support/factor-keys.ts';
import { atCall } from '../../support/records/at-call.ts';

const SECRET = 'JBSWY3DPEHPK3PXP';
const old = factorSecrets(factorKeys(['a']));
const fresh = factorSecrets(factorKeys(['b']));
const rotated = factorSecrets(factorKeys(['b', 'a']));

const setUp = async (texts: readonly ((userId: string) => string)[]) => {
  const { users, records } = memoryStorage();
  for (const textOf of texts) {
    const user = aUser();
    await users.add(user);
    await records.insert('factors', aFactor({ userId: user.id, secret: textOf(user.id) }));
  }
  const stored = async () => (await records.list('factors', { order: ['id'] })).map(withoutVersion);
  const run = (given = rotated) => reEncryptFactors({ records, factorSecrets: given })();
  return { records, stored, run };
};

const byOld = (userId: string) => old.encrypt(SECRET, userId);
const byNew = (userId: string) => fresh.encrypt(SECRET, userId);

describe('reEncryptFactors', () => {
  it('encrypts with the first key what an older one encrypted, however many there are, and changes nothing else', async () => {
    const { stored, run } = await setUp([byNew, ...Array.from({ length: 250 }, () => byOld)]);
    const before = await stored();
    expect(await run()).toEqual({ changed: 250, current: 1, undecryptable: 0 });
    const after = await stored();
    expect(after.map(({ secret, userId }) => fresh.decrypt(secret, userId))).toEqual(after.map(() => SECRET));
    expect(after[0]).toEqual(before[0]);
    const others = (factors: typeof before) => factors.map(({ secret: _secret, ...rest }) => rest);
    expect(others(after)).toEqual(others(before));
    expect(await run()).toEqual({ changed: 0, current: 251, undecryptable: 0 });
  });

  it('leaves as it is what an unknown key encrypted, and what is of another user', async () => {
    const { stored, run } = await setUp([byOld, () => byOld(anId()), byNew]);
    const before = await stored();
    expect(await run(fresh)).toEqual({ changed: 0, current: 1, undecryptable: 2 });
    expect(await stored()).toEqual(before);
    expect(await run()).toEqual({ changed: 1, current: 1, undecryptable: 1 });
    expect((await stored()).slice(1)).toEqual(before.slice(1));
  });

  it('does not bring back a factor that is removed meanwhile, nor an earlier secret', async () => {
    const { records, stored } = await setUp([byOld, byOld]);
    const [removed, changed] = await stored();
    if (removed === undefined || changed === undefined) return expect.unreachable();
    const to = byNew(changed.userId);
    let isFirst = true;
    const meanwhile = atCall(records, ['list', 'factors'], async (list) => {
      const page = await list();
      if (isFirst) {
        isFirst = false;
        await removeRow(records, 'factors', { id: removed.id });
        await changeRow(records, 'factors', { id: changed.id }, (row) => ({ ...row, secret: to }));
      }
      return page;
    });
    const counts = await reEncryptFactors({ records: meanwhile, factorSecrets: rotated })();
    expect(counts).toEqual({ changed: 0, current: 0, undecryptable: 0 });
    expect(await stored()).toEqual([{ ...changed, secret: to }]);
  });
});
