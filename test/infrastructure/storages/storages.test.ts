import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { openSql } from '../../../src/infrastructure/open-sql.ts';
import { aRotation, aSession, aUser } from '../../support/builders.ts';
import { KINDS } from '../../support/storage/kinds.ts';

describe.each(KINDS)('the storage that DATABASE_URL names, on $on', ({ kind, empty }) => {
  it('opens, keeps a user and a session, and closes', async () => {
    const options = await empty();
    const url = options.kind === 'sqlite' ? `sqlite:${options.path}` : options.url;
    const { database } = parseConfig({ DATABASE_URL: url });
    expect(database.kind).toBe(kind);
    const opened = await openSql(database, { migrate: true });
    try {
      const user = aUser();
      await opened.users.add(user);
      expect(await opened.users.findById(user.id)).toEqual(user);
      const session = aSession({ userId: user.id });
      await opened.sessions.add(session);
      expect(await opened.sessions.rotate(aRotation(session))).toHaveProperty('user');
      for (const { ping } of opened.checks) await ping();
    } finally {
      await opened.close();
    }
    for (const { ping } of opened.checks) await expect(ping()).rejects.toThrow();
  });
});
