import pLimit from 'p-limit';
import { isTakenError } from '../../application/accounts/applicant.ts';
import {
  freeUsername,
  type ImportDeps,
  type ImportedUser,
  presenceOf,
  storeImportedUser,
  type UserLookup,
} from '../../application/accounts/import-user.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import type { Storage } from '../../application/storage/records.ts';
import type { Identity } from '../../domain/identity.ts';
import { UNKNOWN_PASSWORD } from '../../domain/password.ts';
import { canonicalUsername } from '../../domain/user.ts';
import { inBatches } from '../batches.ts';
import { readImportedUser, withHash } from './line.ts';
import type { SourceLine } from './source.ts';

type Deps = ImportDeps & Storage & { readonly hasher: PasswordHasher };

type ImportOptions = {
  readonly deps: Deps;
  readonly from: string;
  /** Whether users are only checked, and not stored. Then the ids, names and identities of all users are kept in memory, to find duplicates. */
  readonly dryRun: boolean;
};

type Outcome = {
  /** `in`: the user was stored now, or would be without `dryRun`. `present`: the user is stored already, with this address. */
  readonly state: 'in' | 'present' | 'refused' | 'leftOut';
  readonly hasNoPassword?: boolean;
  readonly remarks: readonly string[];
  /** The id in the other system, and the id here; `null` if the other system has no id of the user. */
  readonly ids?: { readonly old: string; readonly new: string } | null;
};

/** Lines in a batch. */
const BATCH = 500;
const CONCURRENT_READS = 8;

/**
 * Stores the users of a source in the order of its lines, or only checks them (`dryRun`). The same lines can be imported again, for instance after an
 * interruption: users who are stored already are `present`, or refused if their address was changed here.
 * @yields the outcomes of a batch of lines, after the batch was stored
 * @throws AppError if the database fails; errors of the source
 */
export async function* importUsers(lines: AsyncIterable<SourceLine>, options: ImportOptions) {
  const prepare = linePreparer(options);
  const store = options.dryRun ? dryRunStore(options.deps) : transactionStore(options.deps);
  for await (const batch of inBatches(lines, BATCH)) {
    const prepared = await Promise.all(batch.map(async (line) => ({ line, ...(await prepare(line)) })));
    const ready = prepared.filter((each) => 'user' in each);
    const stored = await store(ready.map(({ user }) => user));
    const outcomes = new Map(ready.map((each, at) => [each, outcomeOf(each, stored[at] ?? 'present')] as const));
    yield prepared.map((each) => ('user' in each ? { line: each.line, ...(outcomes.get(each) as Outcome) } : each));
  }
}

type Ready = {
  readonly user: ImportedUser;
  readonly oldId: string | null;
  readonly givenUsername: string | null;
  readonly notes: readonly string[];
};

const refused = (problem: string): Outcome => ({ state: 'refused', remarks: [`refused: ${problem}`] });

const idsOf = (oldId: string | null, id: string) => (oldId === null ? null : { old: oldId, new: id });

/** Reads a line, and looks its user up in the storage. @returns the user to store, or the outcome if there is none to store */
const linePreparer = ({ deps, from, dryRun }: ImportOptions) => {
  const readLimit = pLimit(CONCURRENT_READS);
  const hasher = dryRun ? { hash: async () => '' } : deps.hasher;
  return async (line: SourceLine): Promise<Outcome | Ready> => {
    if ('problem' in line) return refused(line.problem);
    if ('leftOut' in line) return { state: 'leftOut', remarks: [`left out: ${line.leftOut}`] };
    const unhashed = readImportedUser(line.user, from);
    if ('problem' in unhashed) return refused(unhashed.problem);
    const { oldId, givenUsername } = unhashed;
    if (unhashed.user.appSecrets.length > 0 && deps.factorSecrets === null)
      return refused('factors: authenticator apps need FACTOR_KEYS');
    const presence = await readLimit(() => presenceOf(deps, deps, unhashed.user));
    if (presence === 'present') return { state: 'present', remarks: [], ids: idsOf(oldId, unhashed.user.id) };
    if (presence !== null) return refused(presence.problem);
    const user = await withHash(unhashed, hasher);
    return 'problem' in user ? refused(user.problem) : { user, oldId, givenUsername, notes: line.notes ?? [] };
  };
};

/** The username of the stored user, or why the user was not stored. */
type StoreResult = { readonly username: string } | 'present' | { readonly problem: string };

const outcomeOf = ({ user, oldId, givenUsername, notes }: Ready, stored: StoreResult): Outcome => {
  if (stored === 'present') return { state: 'present', remarks: [], ids: idsOf(oldId, user.id) };
  if ('problem' in stored) return refused(stored.problem);
  const isRenamed = givenUsername !== null && givenUsername !== stored.username;
  const remarks = isRenamed ? [...notes, `username: taken or not allowed here, is now ${stored.username}`] : notes;
  const hasNoPassword = user.passwordHash === UNKNOWN_PASSWORD;
  return { state: 'in', hasNoPassword, remarks, ids: idsOf(oldId, user.id) };
};

type Store = (users: readonly ImportedUser[]) => Promise<readonly StoreResult[]>;

/** Stores users in one transaction, or, after an error of `isTakenError`, each user in a transaction of its own. */
const transactionStore = (deps: Deps): Store => {
  const storeAll = (users: readonly ImportedUser[]) =>
    deps.transactions.run(async (stores) => {
      const stored: StoreResult[] = [];
      for (const user of users) stored.push(await storeImportedUser(deps, stores, user));
      return stored;
    });
  const unlessTaken = (users: readonly ImportedUser[]) =>
    storeAll(users).catch((error: unknown) => {
      if (isTakenError(error)) return null;
      throw error;
    });
  return async (users) => {
    const storedAtOnce = users.length === 0 ? [] : await unlessTaken(users);
    if (storedAtOnce !== null) return storedAtOnce;
    const results: StoreResult[] = [];
    for (const user of users) {
      const presence = await presenceOf(deps, deps, user);
      const result = presence ?? (await unlessTaken([user]))?.[0];
      results.push(result ?? { problem: 'its address, username or identity was taken meanwhile' });
    }
    return results;
  };
};

/** For a dry run: stores nothing, and remembers what earlier lines would have taken. */
const dryRunStore = (deps: Deps): Store => {
  const takenNames = new Set<string>();
  const usersById = new Map<string, Pick<ImportedUser, 'email'>>();
  const takenAs = async (name: string) => (takenNames.has(name) ? {} : null);
  const stores: UserLookup = {
    records: deps.records,
    identityOf: (identity) => takenAs(nameOf(identity)),
    users: {
      findById: async (id) => usersById.get(id) ?? null,
      findByEmail: takenAs,
      findByUsername: async (name) => (await takenAs(canonicalUsername(name))) ?? deps.users.findByUsername(name),
    },
  };
  return async (users) => {
    const results: StoreResult[] = [];
    for (const user of users) {
      const { id, email, identities } = user;
      const presence = await presenceOf(deps, stores, user);
      const username = presence === null ? await freeUsername(deps, stores, user) : '';
      results.push(presence ?? { username });
      if (presence !== null) continue;
      usersById.set(id, { email });
      for (const name of [email, canonicalUsername(username), ...identities.map(nameOf)]) takenNames.add(name);
    }
    return results;
  };
};

/** A text for an identity that differs from every address and username. */
const nameOf = ({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): string => JSON.stringify([issuer, subject]);
