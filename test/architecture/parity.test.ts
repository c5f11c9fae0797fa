import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Stores } from '../../src/application/ports/transactions.ts';
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

/** Plain functions with plain tests. */
const WITHOUT_CONTRACT = ['clock-and-ids', 'proofs', 'secrets'];

/** The ports of a storage, by the names of the groups of its contract. */
const OF_STORAGE: Readonly<Record<keyof Stores | 'transactions', string>> = {
  users: 'user-repository',
  sessions: 'session-repository',
  events: 'event-repository',
  links: 'link-repository',
  outbox: 'outbox',
  used: 'used-values',
  passkeys: 'passkey-repository',
  factors: 'factor-repository',
  devices: 'remembered-device-repository',
  transactions: 'transactions',
};

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
});

it('the contract of the records has a test for each of their promises', () => {
  const titles = of((suite) => describeRecords('', none, suite));
  expect(titles.toSorted()).toEqual(promisesOf('src/adapters/records/records.ts').toSorted());
});
