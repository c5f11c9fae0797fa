import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mikroOrmFactorRepository } from '../../../src/adapters/factor-repository/mikro-orm.ts';
import { mikroOrmPasskeyRepository } from '../../../src/adapters/passkey-repository/mikro-orm.ts';
import { mikroOrmUsedValues } from '../../../src/adapters/used-values/mikro-orm.ts';
import type { FactorRepository } from '../../../src/application/ports/factor-repository.ts';
import type { PasskeyRepository } from '../../../src/application/ports/passkey-repository.ts';
import type { UsedValues } from '../../../src/application/ports/used-values.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { plansOf } from '../../support/storage/plans.ts';

const CODES_PER_USER = 10;
/** From five hundred on, PostgreSQL prefers the index where there is one: a statement that cannot use it shows. */
const USERS = 2_000;

/** Inserts users, each with a passkey, an authenticator app and recovery codes, and as many used values as users. Row `n` has the id `n`. */
const fill = async ({ em }: Database): Promise<void> => {
  await em.execute(
    `insert into users (id, username, username_canonical, email, password_hash, created_at, updated_at)
      select lpad(n::text, 26, '0'), 'u' || n, 'u' || n, n || '@example.org', '', 0, 0 from generate_series(1, ?) n`,
    [USERS],
  );
  await em.execute(
    `insert into passkeys (id, user_id, credential_id, public_key, user_handle, counter, transports, aaguid, is_synced,
        is_backed_up, name, created_at)
      select lpad(n::text, 26, '0'), lpad(n::text, 26, '0'), 'credential-' || n, 'key', 'handle', 0, '', 'model', false,
        false, 'Passkey', n
      from generate_series(1, ?) n`,
    [USERS],
  );
  await em.execute(
    `insert into factors (id, user_id, secret, last_step, created_at)
      select lpad(n::text, 26, '0'), lpad(n::text, 26, '0'), 'encrypted', -1, n from generate_series(1, ?) n`,
    [USERS],
  );
  await em.execute(
    `insert into recovery_codes (user_id, hash)
      select lpad(n::text, 26, '0'), 'hash ' || code from generate_series(1, ?) n, generate_series(1, ?) code`,
    [USERS, CODES_PER_USER],
  );
  await em.execute(`insert into used_values (id, expires_at) select 'value ' || n, n from generate_series(1, ?) n`, [
    USERS,
  ]);
  await em.execute('vacuum analyze');
};

type Context = {
  readonly passkeys: PasskeyRepository;
  readonly factors: FactorRepository;
  readonly used: UsedValues;
};

const ID = '77'.padStart(26, '0');
const KEY = { id: ID, userId: ID };

/** By its id or by its user, who has few. */
const A_PASSKEY = 'passkeys_(pkey|user_id_index)';
const AN_APP = 'factors_(pkey|user_id_index)';

/** What requests, commands and the purge do, each with the index that it must use. */
const WORK: Readonly<Record<string, [index: string, work: (context: Context) => Promise<unknown>]>> = {
  'finding a passkey': ['passkeys_credential_id_key', ({ passkeys }) => passkeys.findByCredential('credential-77')],
  'listing the passkeys of a user': ['passkeys_user_id_index', ({ passkeys }) => passkeys.listByUser(ID)],
  'recording the use of a passkey': [
    A_PASSKEY,
    ({ passkeys }) => passkeys.recordUse(KEY, { counter: 1, isBackedUp: false }, 1),
  ],
  'renaming a passkey': [A_PASSKEY, ({ passkeys }) => passkeys.rename(KEY, 'Key ring')],
  'listing the authenticator apps of a user': ['factors_user_id_index', ({ factors }) => factors.listByUser(ID)],
  'using a step': [AN_APP, ({ factors }) => factors.useStep(KEY, 1, 1)],
  'changing a secret': [AN_APP, ({ factors }) => factors.changeSecret(KEY, { from: 'encrypted', to: 'anew' })],
  'listing a page of all authenticator apps': ['factors_pkey', ({ factors }) => factors.listAll(ID, 100)],
  'counting recovery codes': ['recovery_codes_pkey', ({ factors }) => factors.countCodes(ID)],
  'using a recovery code': ['recovery_codes_pkey', ({ factors }) => factors.useCode(ID, 'hash 7')],
  'replacing recovery codes': ['recovery_codes_pkey', ({ factors }) => factors.replaceCodes(ID, ['new hash'])],
  'purging used values': ['used_values_expires_at_index', ({ used }) => used.purge(100, 1_000)],
  'removing a passkey': [A_PASSKEY, ({ passkeys }) => passkeys.remove(KEY)],
  'removing an authenticator app': [AN_APP, ({ factors }) => factors.remove(KEY)],
};

const describePlans = (name: string, open: () => Promise<Database>) =>
  describe(`on ${name}, among the factors of ${USERS} users`, () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
      await fill(database);
    });
    afterAll(() => database?.close());

    it.each(Object.entries(WORK))('%s uses an index and scans no table', async (_what, [index, work]) => {
      const plans = await plansOf(database.em, (em) =>
        work({
          passkeys: mikroOrmPasskeyRepository({ em }),
          factors: mikroOrmFactorRepository({ em }),
          used: mikroOrmUsedValues({ em }),
        }),
      );
      const scans = plans.flatMap((plan) => plan.scans);
      expect(scans.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
      expect(scans).toContainEqual(expect.stringMatching(`^(Index|Bitmap Index|Index Only) Scan ${index}$`));
    });
  });

describePlans('PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) describePlans('PostgreSQL', () => openOnPostgresql(server));
