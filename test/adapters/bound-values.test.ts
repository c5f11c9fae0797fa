import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mikroOrmFactorRepository } from '../../src/adapters/factor-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { aFactor, aUser, NOW } from '../support/builders.ts';
import { openEmbedded, recordingDatabase } from '../support/storage/databases.ts';

describe('the text of a statement, which a server logs beside an error', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openEmbedded();
  });
  afterAll(() => database?.close());

  // Proves: network-6
  it('has no hash and no secret in it', async () => {
    const recording = recordingDatabase(database.em);
    const [users, factors] = [mikroOrmUserRepository(recording), mikroOrmFactorRepository(recording)];
    const user = aUser({ passwordHash: 'hash-of-password' });
    const { id: userId } = user;
    const factor = aFactor({ userId, secret: 'secret-of-app' });
    await users.add(user);
    await users.setPasswordHash(userId, { passwordHash: 'hash-of-another', isOfNewPassword: true, now: NOW });
    await factors.add(factor);
    await factors.changeSecret(factor, { from: 'secret-of-app', to: 'secret-of-another' });
    await factors.replaceCodes(userId, ['hash-of-code']);
    expect(await factors.useCode(userId, 'hash-of-code')).toBe(true);
    expect(recording.statements).toHaveLength(7);
    expect(recording.statements.join('\n')).not.toMatch(/hash-of|secret-of/);
  });
});
