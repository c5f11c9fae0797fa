import type { PasskeyRepository } from '../../src/application/ports/passkey-repository.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { Passkey } from '../../src/domain/passkey.ts';
import { describePasskeyRepository } from '../contracts/passkey-repository.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { mutex } from './harness/mutex.ts';
import { quoting } from './harness/translated.ts';
import { memoryPasskeyRepository } from './memory/passkey-repository.ts';
import type { Tables } from './memory/tables.ts';
import { type Faults, recordsInMemory } from './records/in-memory.ts';

const inMemory = recordsInMemory<PasskeyRepository>((tables) => {
  const { removeOfUser: forget, ...passkeys } = memoryPasskeyRepository(tables);
  return { ...passkeys, forget };
});

const rowsOf = (tables: Tables) => tables.open<Passkey>('passkeys');

/** The owner of a passkey, whoever asks. */
const owned = (tables: Tables, { id }: { readonly id: string }) => ({
  id,
  userId: [...rowsOf(tables).values()].find((passkey) => passkey.id === id)?.userId ?? '',
});

/** Looks whether the credential is stored, and then stores it. */
const addInSteps =
  ({ findByCredential }: PasskeyRepository, tables: Tables): PasskeyRepository['add'] =>
  async (passkey) => {
    if ((await findByCredential(passkey.credentialId)) !== null) throw new AppError('DB_UNIQUE_VIOLATION');
    await Promise.resolve();
    rowsOf(tables).set(passkey.credentialId, { ...passkey, transports: [...passkey.transports] });
  };

const FINDS = 'finds a passkey by the id of its credential';
const REJECTS = 'rejects a credential that is stored, also of another user, with DB_UNIQUE_VIOLATION';
const LISTS = 'lists the passkeys of one user, the oldest first';
const WRITES = 'writes what a use has shown, and its time';
const RENAMES = 'renames a passkey of its user alone';
const REMOVES = 'removes a passkey of its user alone, and says so once';
const LOSES = 'loses the passkeys of a user who is deleted';
const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

const ADDING: Faults<PasskeyRepository> = {
  'loses the ways to reach an authenticator': {
    wrong: ({ add }) => ({ add: (passkey) => add({ ...passkey, transports: [] }) }),
    caughtBy: FINDS,
  },
  'has one transport where there is none': {
    wrong: ({ findByCredential }) => ({
      findByCredential: async (id) => {
        const found = await findByCredential(id);
        return found && { ...found, transports: found.transports.join(' ').split(' ') };
      },
    }),
    caughtBy: FINDS,
  },
  'cuts long ids': {
    wrong: ({ add }) => ({ add: (passkey) => add({ ...passkey, credentialId: passkey.credentialId.slice(0, 255) }) }),
    caughtBy: FINDS,
  },
  'ignores the case of credentials': {
    wrong: ({ findByCredential }) => ({ findByCredential: (id) => findByCredential(id.toLowerCase()) }),
    caughtBy: 'distinguishes credentials in upper and lower case',
  },
  'ignores spaces around an id': {
    wrong: ({ findByCredential }) => ({ findByCredential: (id) => findByCredential(id.trim()) }),
    caughtBy: 'returns null for the id of no credential, and for one that cannot be stored',
  },
  'replaces a stored credential': {
    wrong: (_correct, { tables }) => ({
      add: async (passkey) => void rowsOf(tables).set(passkey.credentialId, passkey),
    }),
    caughtBy: REJECTS,
  },
  'accepts a credential again for its own user': {
    wrong: ({ add, findByCredential }) => ({
      add: async (passkey) => {
        if ((await findByCredential(passkey.credentialId))?.userId !== passkey.userId) await add(passkey);
      },
    }),
    caughtBy: REJECTS,
  },
  'looks, and then adds': {
    wrong: (correct, { tables }) => ({ add: addInSteps(correct, tables) }),
    caughtBy: 'accepts exactly one of many concurrent adds of the same credential',
  },
  'looks and adds under a lock of its own process': {
    wrong: (correct, { tables }) => {
      const exclusively = mutex();
      return { add: (passkey) => exclusively(() => addInSteps(correct, tables)(passkey)) };
    },
    caughtBy: 'accepts exactly one of two adds of the same credential by two instances',
  },
  'keeps what it was given': {
    wrong: ({ add }, { tables }) => ({
      add: async (passkey) => {
        await add(passkey);
        rowsOf(tables).set(passkey.credentialId, passkey);
      },
    }),
    caughtBy: 'is not affected by changes to a passkey that it was given or has returned',
  },
};

const CHANGING: Faults<PasskeyRepository> = {
  'lists the latest first': {
    wrong: ({ listByUser }) => ({ listByUser: async (userId) => (await listByUser(userId)).toReversed() }),
    caughtBy: LISTS,
  },
  'lists the passkeys of all users': {
    wrong: (_correct, { tables }) => ({ listByUser: async () => [...rowsOf(tables).values()] }),
    caughtBy: LISTS,
  },
  'forgets when a passkey was used': {
    wrong: ({ recordUse }) => ({ recordUse: (key, state) => recordUse(key, state, 0) }),
    caughtBy: WRITES,
  },
  'forgets that a passkey was backed up': {
    wrong: ({ recordUse }) => ({
      recordUse: (key, state, now) => recordUse(key, { ...state, isBackedUp: false }, now),
    }),
    caughtBy: WRITES,
  },
  'writes a use for any user': {
    wrong: ({ recordUse }, { tables }) => ({ recordUse: (key, ...use) => recordUse(owned(tables, key), ...use) }),
    caughtBy: WRITES,
  },
  'writes the last counter': {
    wrong: ({ recordUse }, { tables }) => ({
      recordUse: async (key, state, now) => {
        const passkey = [...rowsOf(tables).values()].find(({ id }) => id === key.id);
        if (passkey !== undefined) rowsOf(tables).set(passkey.credentialId, { ...passkey, counter: 0 });
        return recordUse(key, state, now);
      },
    }),
    caughtBy: 'never lowers a counter',
  },
  'renames for any user': {
    wrong: ({ rename }, { tables }) => ({ rename: (key, name) => rename(owned(tables, key), name) }),
    caughtBy: RENAMES,
  },
  'returns the former name': {
    wrong: ({ rename }) => ({
      rename: async (key, name) => {
        const renamed = await rename(key, name);
        return renamed && { ...renamed, name: 'Passkey' };
      },
    }),
    caughtBy: RENAMES,
  },
  'removes for any user': {
    wrong: ({ remove }, { tables }) => ({ remove: (key) => remove(owned(tables, key)) }),
    caughtBy: REMOVES,
  },
  'says to everybody that it has removed': {
    wrong: ({ listByUser, remove }) => ({
      remove: async (key) => {
        const found = (await listByUser(key.userId)).find(({ id }) => id === key.id) ?? null;
        await remove(key);
        return found;
      },
    }),
    caughtBy: REMOVES,
  },
  'keeps the passkeys of a user who is deleted': { wrong: () => ({ forget: () => undefined }), caughtBy: LOSES },
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ listByUser: untranslated.listByUser }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ rename: quoting(untranslated.rename) }),
    caughtBy: FAILS,
  },
  'finds no passkey while its store is unavailable': {
    wrong: ({ findByCredential }) => ({ findByCredential: (id) => findByCredential(id).catch(() => null) }),
    caughtBy: FAILS,
  },
};

describePasskeyRepository('the correct repository', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describePasskeyRepository('a mutant', make, suite),
  mutantsOf(inMemory, ADDING, CHANGING),
);
