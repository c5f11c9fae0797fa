import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  describeLoginAttempts,
  describeMailer,
  describePasswordHasher,
  describeRecords,
  describeStorage,
  describeTokenSigner,
  describeWebAuthn,
} from '../contracts/index.ts';
import type { Suite } from '../contracts/suite.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';

/** Plain functions with plain tests, and other tables of `Records`. */
const WITHOUT_CONTRACT = ['clock-and-ids', 'hooks', 'identity-providers', 'proofs', 'secrets'];

/** What the groups of the contract of a storage are about. */
const OF_STORAGE = { users: 'user-repository', sessions: 'session-repository', stores: 'stores' };

/** The titles of a contract's tests, which are not run, by the outermost group that they are in. */
const titlesOf = (register: (suite: Suite) => void): ReadonlyMap<string, readonly string[]> => {
  const titles = new Map<string, string[]>();
  const groups: string[] = [];
  register({
    describe(title, body) {
      groups.push(title);
      body();
      groups.pop();
    },
    it: (title) => void titles.set(groups[0] ?? '', [...(titles.get(groups[0] ?? '') ?? []), title]),
  });
  return titles;
};
const none = async () => expect.unreachable();
const of = (register: (suite: Suite) => void) => [...titlesOf(register).values()].flat();
const storage = titlesOf((suite) => describeStorage('', none, suite));

const CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(OF_STORAGE).map(([group, port]) => [port, storage.get(`${group} `) ?? expect.unreachable(group)]),
  ),
  'login-attempts': of((suite) => describeLoginAttempts('', none, suite)),
  mailer: of((suite) => describeMailer('', none, suite)),
  'password-hasher': of((suite) => describePasswordHasher('', () => expect.unreachable(), suite)),
  'token-signer': of((suite) => describeTokenSigner('', () => expect.unreachable(), suite)),
  webauthn: of((suite) => describeWebAuthn('', () => expect.unreachable(), suite)),
};

/** Where a contract is run, for an adapter or over a database, and by which name. */
const RUNS: readonly string[] = [
  'adapters/crypto/jws: TokenSigner nodeCryptoTokenSigner',
  'adapters/crypto/jws: TokenSigner plainTokenSigner',
  'adapters/crypto/jws: TokenSigner rememberingTokenSigner',
  'adapters/crypto/password-hasher: PasswordHasher passwordHasher',
  'adapters/crypto/password-hasher: PasswordHasher plainPasswordHasher',
  'adapters/limits/login-attempts: LoginAttempts countAttempts',
  'adapters/limits/login-attempts: LoginAttempts countAttempts in memory',
  'adapters/mailer/contract: Mailer fileMailer',
  'adapters/mailer/contract: Mailer httpMailer',
  'adapters/mailer/contract: Mailer smtpMailer',
  'adapters/records/mariadb: Records mikroOrmRecords',
  'adapters/records/mariadb: Records mikroOrmRecords that lock by a change without delete … returning',
  'adapters/records/memory: Records memoryRecords',
  'adapters/records/memory: Records the database of the simulation',
  'adapters/records/memory: Storage over records in memory',
  'adapters/records/one-statement-sessions: SessionRepository postgresqlSessions',
  'adapters/records/postgresql: Records mikroOrmRecords',
  'adapters/records/postgresql: Storage over records of MikroORM',
  'adapters/records/sqlite: Records mikroOrmRecords',
  'adapters/records/sqlite: SessionRepository sqliteSessions',
  'adapters/webauthn/simplewebauthn: WebAuthn simpleWebAuthn',
  'examples/documented-code: Records name',
  'examples/own-store: Records pgRecords',
  'examples/own-store: Storage over it',
];

/** The items of the list in the comment of an interface. */
const promisesOf = (path: string): string[] =>
  [...readText(path).matchAll(/^ \* - (.+)$/gm)].map(([, promise = '']) => promise);

const ports = readdirSync(`${ROOT}src/application/ports`)
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((port) => !WITHOUT_CONTRACT.includes(port));

describe('the contract of a port', () => {
  it.each(ports)('has a test for each promise in the comment of %s', (port) => {
    expect(CONTRACTS[port]?.toSorted()).toEqual(promisesOf(`src/application/ports/${port}.ts`).toSorted());
  });

  it('has a test for each promise of records, stores and transactions', () => {
    const titles = [...of((suite) => describeRecords('', none, suite)), ...(CONTRACTS.stores ?? [])];
    expect(titles.toSorted()).toEqual(promisesOf('src/application/storage/records.ts').toSorted());
  });
});

it('the contracts are run for each adapter, and over each database', () => {
  const runs = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?:adapters|examples|infrastructure)\/.+\.test\.ts$/.test(file))
    .flatMap((file) =>
      [...readText(`test/${file}`).matchAll(/\bdescribe([A-Z]\w+)\(\s*'?([^',]+)/g)].map(
        ([, contract, name]) => `${file.replace('.test.ts', '')}: ${contract} ${name}`,
      ),
    );
  expect(runs.toSorted()).toEqual(RUNS);
});
