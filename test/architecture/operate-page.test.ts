import { globSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { CATALOG } from '../../src/domain/errors/catalog.ts';
import { CONFIG_VARIABLES } from '../../src/infrastructure/config.ts';
import { MOVE_FROM } from '../../src/infrastructure/data/move.ts';
import { aSession, aUser, NOW } from '../support/builders.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';
import { openEmbedded } from '../support/storage/databases.ts';

const page = readText('docs/operate.md');
const source = globSync('src/**/*.ts', { cwd: ROOT }).map(readText).join('\n');

const found = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, text = '']) => text);

/** A variable of the page's own shell examples. */
const OWN_VARIABLE = 'RESTORED_URL';
/** Variables of a command alone. */
const OF_COMMANDS = [MOVE_FROM, `${MOVE_FROM}_FILE`];

describe('docs/operate.md', () => {
  it('uses only existing variables and error codes', () => {
    const existing = [
      ...CONFIG_VARIABLES.map(({ name }) => name),
      ...Object.keys(CATALOG),
      OWN_VARIABLE,
      ...OF_COMMANDS,
    ];
    const used = found(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g);
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((name) => !existing.includes(name))).toEqual([]);
  });

  it('uses only existing commands', () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(readText('package.json'));
    const used = found(/npm run ([a-z:]+)/g);
    expect(used.length).toBeGreaterThan(0);
    for (const name of used) expect(Object.keys(scripts)).toContain(name);
  });

  it.each(['What to watch', 'A user says: I was logged out'])('quotes the log as it is written: %s', (heading) => {
    const quoted = tableBelow(page, heading).map(([text = '']) => text);
    expect(quoted.length).toBeGreaterThan(3);
    const isWritten = (text: string) => text.split('…').every((part) => source.includes(part.trim()));
    expect(quoted.filter((text) => !isWritten(text))).toEqual([]);
  });

  it('has a statement that ends the sessions of all', async () => {
    const { em, records, close } = await openEmbedded();
    onTestFinished(close);
    const { users, sessions } = storageOver(records);
    const [one, other] = [aUser(), aUser()];
    for (const user of [one, other]) {
      await users.add(user);
      await sessions.add(aSession({ userId: user.id, createdAt: NOW, rotatedAt: NOW, expiresAt: NOW + 1 }));
    }
    const left = async () =>
      Promise.all([one, other].map(async ({ id }) => (await sessions.listByUser(id, NOW)).length));
    const statements = found(/--command=["'](delete from sessions\b.*)["']$/gm);
    expect(new Set(statements).size).toBe(1);
    expect(await left()).toEqual([1, 1]);
    const [ofAll = ''] = statements;
    await em.execute(ofAll);
    expect(await left()).toEqual([0, 0]);
  });
});
