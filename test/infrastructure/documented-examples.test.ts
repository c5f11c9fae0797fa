import { expect, it, onTestFinished } from 'vitest';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { newFactorKey, newPair, privatePem, publicPem } from '../../src/infrastructure/keys.ts';
import { aSession, aUser, NOW } from '../support/builders.ts';
import { readText } from '../support/checkout/repository.ts';
import { openEmbedded } from '../support/storage/databases.ts';

/** The complete example of docs/configuration.md, as Node parses an environment file, with keys in place of the dots. */
const exampleForProduction = (): Record<string, string> => {
  const [, text = ''] = /```ini\n([\s\S]*?)```/.exec(readText('docs/configuration.md')) ?? [];
  const lines = text.trim().split('\n');
  const env = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  env.FACTOR_KEYS = newFactorKey();
  for (const kind of ['ACCESS', 'REFRESH']) {
    const { privateKey, publicKeys } = newPair();
    env[`JWT_${kind}_PRIVATE_KEY`] = privatePem(privateKey);
    env[`JWT_${kind}_PUBLIC_KEY`] = publicPem(publicKeys);
  }
  return env;
};

it('the configuration for production in docs/configuration.md is accepted, without a warning', () => {
  const config = parseConfig(exampleForProduction());
  expect(config).toMatchObject({ environment: 'production', databaseWarnings: [], warnings: [] });
});

it('the statement of docs/operate.md for an incident ends the sessions of all users', async () => {
  const { em, records, close } = await openEmbedded();
  onTestFinished(close);
  const { users, sessions } = storageOver(records);
  const user = aUser();
  await users.add(user);
  await sessions.add(aSession({ userId: user.id, createdAt: NOW, rotatedAt: NOW, expiresAt: NOW + 1 }));
  const statements = [...readText('docs/operate.md').matchAll(/--command=["'](delete from sessions\b.*)["']$/gm)];
  const [, statement = ''] = statements[0] ?? [];
  await em.execute(statement);
  expect(await sessions.listByUser(user.id, NOW)).toEqual([]);
});
