import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RegisterBody } from '../../src/adapters/http/routes/accounts/register.ts';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import type { UserRepository } from '../../src/application/ports/user-repository.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { canonicalEmail, canonicalUsername } from '../../src/domain/user.ts';
import { ADA, application } from '../support/application.ts';
import { aUser } from '../support/builders.ts';
import { anyText, email, inAnyCase, lookingLike, username } from '../support/properties/arbitraries.ts';
import { holds } from '../support/properties/properties.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../support/storage/databases.ts';
import type { Database } from '../support/storage/open-database.ts';

/*
 * Pairs of similar names. Each run prints the seeds of its properties;
 * `FC_SEED=<seed> vitest run test/properties/names.test.ts` repeats it.
 */

type Kind = 'username' | 'email';
const NAMES = {
  username: { canonical: canonicalUsername, arbitrary: username, schema: RegisterBody.entries.username },
  email: { canonical: canonicalEmail, arbitrary: email, schema: RegisterBody.entries.email },
};

const find = (users: UserRepository, kind: Kind, name: string) =>
  kind === 'email' ? users.findByEmail(name) : users.findByUsername(name);

/** Whether the second name finds the first user, and whether both can be stored, as text. */
const collision = async (users: UserRepository, kind: Kind, first: string, second: string): Promise<string> => {
  const user = aUser({ [kind]: first });
  await users.add(user);
  const found = (await find(users, kind, second))?.id === user.id;
  const refused = await users.add(aUser({ [kind]: second })).then(
    () => false,
    (error: unknown) => error instanceof AppError && error.code === 'AUTH_USER_DUPLICATE',
  );
  return `${found ? 'found' : 'not found'}, ${refused ? 'refused' : 'stored'}`;
};

describe.each(['username', 'email'] as const)('%ss', (kind) => {
  const { canonical, arbitrary, schema } = NAMES[kind];
  const pair = arbitrary.chain((name) => fc.tuple(fc.constant(name), fc.oneof(lookingLike(name), arbitrary)));

  it('have a canonical form that is its own canonical form', async () => {
    const anyName = fc.oneof(anyText, arbitrary.chain(lookingLike));
    await holds(
      fc.property(anyName, (name) => {
        expect(canonical(canonical(name))).toBe(canonical(name));
      }),
      { numRuns: 4_000 },
    );
  });

  it('are equal if they are valid and differ only in letter case, and otherwise not', async () => {
    const bare = (name: string) =>
      name.replaceAll(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    await holds(
      fc.property(pair, (names) => {
        const [first = '', second = ''] = names
          .map((name) => v.safeParse(schema, name))
          .map((parsed) => (parsed.success ? parsed.output : undefined));
        fc.pre(first !== '' && second !== '');
        expect(canonical(first) === canonical(second)).toBe(bare(first) === bare(second));
        expect(first).toMatch(/^[\x21-\x7e]+$/);
      }),
      { numRuns: 4_000, maxSkipsPerRun: 20 },
    );
  });

  it('are found by a log-in in any letter case', async () => {
    const written = arbitrary
      .filter((name) => v.is(schema, name))
      .chain((name) => fc.tuple(fc.constant(name), inAnyCase(name)));
    await holds(
      fc.asyncProperty(written, async ([name, account]) => {
        const app = application();
        const { user } = await app.register({ ...ADA, [kind]: name });
        expect((await app.login({ account, password: ADA.password })).user.id).toBe(user.id);
      }),
      { numRuns: 500 },
    );
  });

  const agree = (name: string, numRuns: number, open: () => Promise<Database>) =>
    describe(`on ${name}`, () => {
      let database: Database;
      beforeAll(async () => {
        database = await open();
      });
      afterAll(() => database?.close());

      it('are equal alike for the domain, the adapter in memory and the unique constraints', async () => {
        await holds(
          fc.asyncProperty(pair, async ([first, second]) => {
            const same = canonical(first) === canonical(second);
            const expected = same ? 'found, refused' : 'not found, stored';
            expect(await collision(memoryStorage().users, kind, first, second)).toBe(expected);
            await database.em.execute('delete from users');
            expect(await collision(storageOver(database.records).users, kind, first, second)).toBe(expected);
          }),
          { numRuns },
        );
      });
    });
  const server = TEST_DATABASE_URL;
  agree('SQLite', 60, openEmbedded);
  if (server !== undefined) agree('PostgreSQL', 120, () => openOnPostgresql(server));
});
