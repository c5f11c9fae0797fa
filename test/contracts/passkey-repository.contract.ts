import { expect } from 'vitest';
import type { PasskeyRepository } from '../../src/application/ports/passkey-repository.ts';
import type { AppError } from '../../src/domain/errors/app-error.ts';
import { anId, aPasskey, NOW } from '../support/builders.ts';
import { expectTranslated, rejection } from './hooks.ts';
import { givenRecords, type RecordsStore } from './records/store.ts';
import { prepared, vitestSuite } from './suite.ts';
import { atBoth, untilClose } from './two-instances.ts';

type PasskeyStore = RecordsStore<PasskeyRepository>;

const RACERS = 40;

/** The code of the error with which a call was refused; `null` when it was not. */
const refusalOf = (call: Promise<unknown>): Promise<string | null> =>
  call.then(
    () => null,
    (error: AppError) => error.code,
  );

/** Registers the tests of every promise of the port for one adapter. */
export const describePasskeyRepository = (
  name: string,
  make: () => Promise<PasskeyStore>,
  suite = vitestSuite,
): void => {
  const { it } = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as a PasskeyRepository`, () => {
    it('finds a passkey by the id of its credential', async ({ repository, owner, otherUser, anotherIfAny }) => {
      const passkeys = [
        aPasskey({ userId: owner, isSynced: true, isBackedUp: true, transports: [], counter: 0 }),
        aPasskey({ userId: owner, lastUsedAt: NOW + 7, counter: 2 ** 32 - 1, name: 'Ada’s “key” 🔑' }),
        aPasskey({ userId: otherUser, isSynced: true, credentialId: 'x'.repeat(1_364) }),
      ];
      for (const passkey of passkeys) await repository.add(passkey);
      const another = await anotherIfAny();
      for (const passkey of passkeys)
        expect(await another.findByCredential(passkey.credentialId)).toStrictEqual(passkey);
    });

    it('distinguishes credentials in upper and lower case', async ({ repository, owner, otherUser }) => {
      const [lower, upper] = [
        aPasskey({ userId: owner, credentialId: 'abc' }),
        aPasskey({ userId: otherUser, credentialId: 'ABC' }),
      ];
      for (const passkey of [lower, upper]) await repository.add(passkey);
      expect(await repository.findByCredential('abc')).toStrictEqual(lower);
      expect(await repository.findByCredential('ABC')).toStrictEqual(upper);
    });

    it('returns null for the id of no credential, and for one that cannot be stored', async ({ repository, owner }) => {
      await repository.add(aPasskey({ userId: owner, credentialId: 'abc' }));
      for (const id of ['abd', 'ab', 'abc ', '', '\0', 'abc\0', '\ud800'])
        expect(await repository.findByCredential(id)).toBeNull();
    });

    it('rejects a credential that is stored, also of another user, with DB_UNIQUE_VIOLATION', async (given) => {
      const { repository, owner, otherUser } = given;
      const passkey = aPasskey({ userId: owner });
      await repository.add(passkey);
      for (const userId of [owner, otherUser]) {
        const second = aPasskey({ userId, credentialId: passkey.credentialId });
        expect(await refusalOf(repository.add(second))).toBe('DB_UNIQUE_VIOLATION');
      }
      expect(await repository.listByUser(owner)).toStrictEqual([passkey]);
      expect(await repository.listByUser(otherUser)).toEqual([]);
    });

    it('accepts exactly one of many concurrent adds of the same credential', async (given) => {
      const { repository, owner, otherUser } = given;
      const credentialId = 'one';
      const adds = Array.from({ length: RACERS }, (_, at) =>
        refusalOf(repository.add(aPasskey({ userId: at % 2 === 0 ? owner : otherUser, credentialId }))),
      );
      expect((await Promise.all(adds)).filter((refusal) => refusal === null)).toHaveLength(1);
    });

    it('accepts exactly one of two adds of the same credential by two instances', async (given) => {
      const { repository, owner, otherUser, hook } = given;
      const another = await hook('another')();
      await untilClose(async () => {
        const ids = Array.from({ length: 10 }, () => `credential_${anId()}`);
        const [theirs, ours] = await atBoth(another, repository, (instance) =>
          Promise.all(
            ids.map((credentialId) => {
              const userId = instance === another ? owner : otherUser;
              return refusalOf(instance.add(aPasskey({ userId, credentialId })));
            }),
          ),
        );
        for (const at of ids.keys())
          expect([theirs[at], ours[at]].sort()).toStrictEqual(['DB_UNIQUE_VIOLATION', null].sort());
        return theirs.map((refusal) => refusal === null);
      });
    });

    it('lists the passkeys of one user, the oldest first', async ({ repository, owner, otherUser, stranger }) => {
      const passkeys = [aPasskey({ userId: owner }), aPasskey({ userId: owner }), aPasskey({ userId: owner })];
      for (const passkey of [...passkeys.toReversed(), aPasskey({ userId: otherUser })]) await repository.add(passkey);
      expect(await repository.listByUser(owner)).toStrictEqual(passkeys);
      for (const id of [stranger, '', '\0']) expect(await repository.listByUser(id)).toEqual([]);
    });

    it('writes what a use has shown, and its time', async ({ repository, owner, otherUser, stranger }) => {
      const passkey = aPasskey({ userId: owner, isSynced: true, counter: 3 });
      const others = [aPasskey({ userId: owner }), aPasskey({ userId: otherUser })];
      for (const each of [passkey, ...others]) await repository.add(each);
      const used = { counter: 4, isBackedUp: true };
      expect(await repository.recordUse(passkey, used, NOW + 5)).toBe(true);
      const after = { ...passkey, ...used, lastUsedAt: NOW + 5 };
      expect(await repository.findByCredential(passkey.credentialId)).toStrictEqual(after);
      for (const each of others) expect(await repository.findByCredential(each.credentialId)).toStrictEqual(each);
      for (const key of [
        { id: stranger, userId: owner },
        { id: passkey.id, userId: otherUser },
        { id: '\0', userId: owner },
      ])
        expect(await repository.recordUse(key, used, NOW + 9)).toBe(false);
      expect(await repository.findByCredential(passkey.credentialId)).toStrictEqual(after);
    });

    it('never lowers a counter', async ({ repository, owner }) => {
      const passkey = aPasskey({ userId: owner, counter: 100 });
      await repository.add(passkey);
      await Promise.all(
        [101, 9, 105, 0, 104].map((counter) => repository.recordUse(passkey, { counter, isBackedUp: false }, NOW)),
      );
      expect(await repository.findByCredential(passkey.credentialId)).toMatchObject({ counter: 105 });
    });

    it('renames a passkey of its user alone', async ({ repository, owner, otherUser, stranger }) => {
      const [passkey, other] = [aPasskey({ userId: owner }), aPasskey({ userId: owner })];
      for (const each of [passkey, other]) await repository.add(each);
      const renamed = { ...passkey, name: 'Key ring' };
      expect(await repository.rename(passkey, 'Key ring')).toStrictEqual(renamed);
      for (const key of [
        { id: passkey.id, userId: otherUser },
        { id: stranger, userId: owner },
        { id: '\0', userId: owner },
      ])
        expect(await repository.rename(key, 'Mine')).toBeNull();
      expect(await repository.listByUser(owner)).toStrictEqual([renamed, other]);
    });

    it('removes a passkey of its user alone, and says so once', async ({ repository, owner, otherUser, stranger }) => {
      const [passkey, other] = [aPasskey({ userId: owner }), aPasskey({ userId: owner })];
      for (const each of [passkey, other]) await repository.add(each);
      for (const key of [
        { id: passkey.id, userId: otherUser },
        { id: stranger, userId: owner },
        { id: '\0', userId: owner },
      ])
        expect(await repository.remove(key)).toBeNull();
      const removed = await Promise.all(Array.from({ length: RACERS }, () => repository.remove(passkey)));
      expect(removed.filter((each) => each !== null)).toStrictEqual([passkey]);
      expect(await repository.listByUser(owner)).toStrictEqual([other]);
      await repository.add(passkey);
      expect(await repository.findByCredential(passkey.credentialId)).toStrictEqual(passkey);
    });

    it('loses the passkeys of a user who is deleted', async ({ repository, store, owner, otherUser }) => {
      const [passkey, ofOther] = [aPasskey({ userId: owner }), aPasskey({ userId: otherUser })];
      for (const each of [passkey, ofOther]) await repository.add(each);
      await store.deleteUser(owner);
      expect(await repository.findByCredential(passkey.credentialId)).toBeNull();
      expect(await repository.listByUser(owner)).toEqual([]);
      expect(await repository.findByCredential(ofOther.credentialId)).toStrictEqual(ofOther);
    });

    it('is not affected by changes to a passkey that it was given or has returned', async ({ repository, owner }) => {
      const transports = ['usb'];
      const passkey = aPasskey({ userId: owner, transports });
      await repository.add(passkey);
      transports.push('nfc');
      const found = () => repository.findByCredential(passkey.credentialId);
      for (const each of [await found(), ...(await repository.listByUser(owner))])
        Object.assign(each ?? {}, { name: 'changed', counter: 9 });
      ((await found()) as { transports: string[] } | null)?.transports.push('ble');
      expect(await found()).toStrictEqual({ ...passkey, transports: ['usb'] });
    });

    it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
      const { repository, owner, hook } = given;
      const passkey = aPasskey({ userId: owner, name: 'a name of a key' });
      await repository.add(passkey);
      const failing = await hook('failing')();
      const calls = [
        () => failing.add(passkey),
        () => failing.findByCredential(passkey.credentialId),
        () => failing.listByUser(owner),
        () => failing.recordUse(passkey, passkey, NOW),
        () => failing.rename(passkey, passkey.name),
        () => failing.remove(passkey),
      ];
      const secrets = [owner, passkey.credentialId, passkey.publicKey, passkey.userHandle, passkey.name];
      for (const call of calls) expectTranslated(await rejection(call()), secrets);
      expect(await repository.listByUser(owner)).toStrictEqual([passkey]);
    });
  });
};
