import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SQLITE } from '../../../src/adapters/mikro-orm/dialects.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { aFactor, aUser, NOW } from '../../support/builders.ts';
import { recording } from '../../support/records/recording.ts';
import { openEmbedded } from '../../support/storage/databases.ts';
import type { Database } from '../../support/storage/open-database.ts';

describe('the text of a statement, which a server logs beside an error', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openEmbedded();
  });
  afterAll(() => database?.close());

  it('has no hash and no secret in it', async () => {
    const { db, sent } = recording(database.em.getKysely());
    const { users, factors } = storageOver(mikroOrmRecords(() => db, SQLITE));
    const user = aUser({ passwordHash: 'hash-of-password' });
    const { id: userId } = user;
    const factor = aFactor({ userId, secret: 'secret-of-app' });
    await users.add(user);
    await users.setPasswordHash(userId, { passwordHash: 'hash-of-another', isOfNewPassword: true, now: NOW });
    await factors.add(factor);
    await factors.changeSecret(factor, { from: 'secret-of-app', to: 'secret-of-another' });
    await factors.replaceCodes(userId, ['hash-of-code']);
    expect(await factors.useCode(userId, 'hash-of-code')).toBe(true);
    expect(sent.length).toBeGreaterThan(6);
    expect(sent.join('\n')).not.toMatch(/hash-of|secret-of/);
  });
});
