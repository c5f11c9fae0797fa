// Proves ASVS 6.5.1, 6.8.1; nist-2
import { expect } from 'vitest';
import type { AppError } from '../../../src/domain/errors/app-error.ts';
import type { RememberedDevice } from '../../../src/domain/remembered-device.ts';
import type { Factor } from '../../../src/domain/second-factor.ts';
import { aFactor, anId, anIdentity, aPasskey, aRememberedDevice, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { byId, type GivenStorage, raced } from './given.ts';

const RACERS = 40;

const trueOnes = (outcomes: readonly boolean[]): number => outcomes.filter((outcome) => outcome).length;

const addedFactor = async ({ factors }: GivenStorage, given: Partial<Factor>): Promise<Factor> => {
  const factor = aFactor(given);
  await factors.add(factor);
  return factor;
};

export const factors = ({ it }: Tests<GivenStorage>): void => {
  it('lists the factors of one user, the oldest first', async (given) => {
    const { factors, owner, otherUser, stranger } = given;
    const own = [aFactor({ userId: owner, confirmedAt: NOW }), aFactor({ userId: owner, lastStep: 60_000_000 })];
    for (const factor of own.toSorted(byId).toReversed()) await factors.add(factor);
    const ofOther = await addedFactor(given, { userId: otherUser });
    expect(await factors.listByUser(owner)).toEqual(own.toSorted(byId));
    expect(await factors.listByUser(otherUser)).toEqual([ofOther]);
    expect([await factors.listByUser(stranger), await factors.listByUser('\0')]).toEqual([[], []]);
  });

  it('uses a step of a factor of its user, unless it or a later one was used', async (given) => {
    const { factors, owner, otherUser } = given;
    const [factor, second] = [await addedFactor(given, { userId: owner }), await addedFactor(given, { userId: owner })];
    expect(await factors.useStep({ id: factor.id, userId: otherUser }, 7, NOW)).toBe(false);
    expect(await factors.useStep({ id: anId(), userId: owner }, 7, NOW)).toBe(false);
    for (const [step, isUsed] of [
      [7, true],
      [7, false],
      [6, false],
      [8, true],
    ] as const)
      expect(await factors.useStep(factor, step, NOW)).toBe(isUsed);
    expect(await factors.useStep(second, 7, NOW)).toBe(true);
  });

  it('confirms a factor with its first step, and remembers when', async (given) => {
    const { factors, owner } = given;
    const [factor, untouched] = [
      await addedFactor(given, { userId: owner }),
      await addedFactor(given, { userId: owner }),
    ];
    await factors.useStep(factor, 7, NOW + 1);
    await factors.useStep(factor, 8, NOW + 2);
    await factors.useStep(factor, 8, NOW + 3);
    const stored = await factors.listByUser(owner);
    expect(stored.find(({ id }) => id === factor.id)).toEqual({ ...factor, lastStep: 8, confirmedAt: NOW + 1 });
    expect(stored.find(({ id }) => id === untouched.id)).toEqual(untouched);
  });

  it('accepts exactly one of many concurrent uses of a step', async (given) => {
    const { factors, another, owner } = given;
    const factor = await addedFactor(given, { userId: owner });
    const uses = await raced([factors, another.factors], RACERS, (instance) => instance.useStep(factor, 7, NOW));
    expect(trueOnes(uses)).toBe(1);
  });

  it('removes a factor of its user alone, and says so once', async (given) => {
    const { factors, owner, otherUser } = given;
    const [factor, kept] = [await addedFactor(given, { userId: owner }), await addedFactor(given, { userId: owner })];
    expect(await factors.remove({ id: factor.id, userId: otherUser })).toBe(false);
    expect([await factors.remove(factor), await factors.remove(factor)]).toEqual([true, false]);
    expect(await factors.listByUser(owner)).toEqual([kept]);
  });

  it('replaces the recovery codes of one user, and lists their hashes', async ({ factors, owner, otherUser }) => {
    await factors.replaceCodes(otherUser, ['one']);
    await factors.replaceCodes(owner, ['one', 'two', 'three']);
    await factors.replaceCodes(owner, ['three', 'four']);
    expect([(await factors.codesOf(owner)).toSorted(), await factors.codesOf(otherUser)]).toEqual([
      ['four', 'three'],
      ['one'],
    ]);
    expect(await factors.useCode(owner, 'one')).toBe(false);
    await factors.replaceCodes(owner, []);
    expect(await factors.codesOf(owner)).toHaveLength(0);
  });

  it('uses a recovery code of its user once', async ({ factors, owner, otherUser }) => {
    await factors.replaceCodes(owner, ['one', 'two']);
    for (const [userId, code, isUsed] of [
      [otherUser, 'one', false],
      [owner, 'ONE', false],
      [owner, 'one', true],
      [owner, 'one', false],
    ] as const)
      expect(await factors.useCode(userId, code)).toBe(isUsed);
    expect(await factors.codesOf(owner)).toHaveLength(1);
  });

  it('accepts exactly one of many concurrent uses of a recovery code', async ({ factors, another, owner }) => {
    await factors.replaceCodes(owner, ['one']);
    const uses = await raced([factors, another.factors], RACERS, (instance) => instance.useCode(owner, 'one'));
    expect(trueOnes(uses)).toBe(1);
  });

  it('changes an encrypted secret only if the given one is still stored', async (given) => {
    const { factors, owner, otherUser } = given;
    const factor = await addedFactor(given, { userId: owner, secret: 'old' });
    const change = { from: 'old', to: 'new' };
    expect(await factors.changeSecret({ id: factor.id, userId: otherUser }, change)).toBe(false);
    expect(await factors.changeSecret(factor, change)).toBe(true);
    expect(await factors.changeSecret(factor, change)).toBe(false);
    expect(await factors.listByUser(owner)).toEqual([{ ...factor, secret: 'new' }]);
  });

  it('lists the factors of all users in pages', async (given) => {
    const { factors, owner, otherUser } = given;
    const ids: string[] = [];
    for (const userId of [owner, otherUser, owner]) ids.push((await addedFactor(given, { userId })).id);
    const sorted = ids.toSorted();
    const first = await factors.listAll('', 2);
    const second = await factors.listAll(first.at(-1)?.id ?? '', 2);
    expect([first, second].map((page) => page.map(({ id }) => id))).toEqual([sorted.slice(0, 2), sorted.slice(2)]);
  });
};

/** The code of the error with which a call was refused; `null` when it was not. */
const refusalOf = (call: Promise<unknown>): Promise<string | null> =>
  call.then(
    () => null,
    (error: AppError) => error.code,
  );

export const passkeys = ({ it }: Tests<GivenStorage>): void => {
  it('finds a passkey by the id of its credential', async ({ passkeys, owner, otherUser }) => {
    const stored = [
      aPasskey({ userId: owner, isSynced: true, isBackedUp: true, transports: [], counter: 0 }),
      aPasskey({ userId: owner, lastUsedAt: NOW + 7, counter: 2 ** 32 - 1, name: 'Ada’s “key” 🔑' }),
      aPasskey({ userId: otherUser, isSynced: true, credentialId: 'x'.repeat(1_364) }),
    ];
    for (const passkey of stored) await passkeys.add(passkey);
    for (const passkey of stored) expect(await passkeys.findByCredential(passkey.credentialId)).toStrictEqual(passkey);
    for (const id of ['x', '', '\0']) expect(await passkeys.findByCredential(id)).toBeNull();
  });

  it('rejects a credential that is stored, also of another user, with DB_UNIQUE_VIOLATION', async (given) => {
    const { passkeys, another, owner, otherUser } = given;
    const adds = await raced([passkeys, another.passkeys], RACERS, (instance, at) =>
      refusalOf(instance.add(aPasskey({ userId: at % 3 === 0 ? owner : otherUser, credentialId: 'one' }))),
    );
    expect(adds.filter((refusal) => refusal === null)).toHaveLength(1);
    expect(adds.filter((refusal) => refusal === 'DB_UNIQUE_VIOLATION')).toHaveLength(RACERS - 1);
  });

  it('lists the passkeys of one user, the oldest first', async ({ passkeys, owner, otherUser, stranger }) => {
    const own = [aPasskey({ userId: owner }), aPasskey({ userId: owner }), aPasskey({ userId: owner })];
    for (const passkey of [...own.toReversed(), aPasskey({ userId: otherUser })]) await passkeys.add(passkey);
    expect(await passkeys.listByUser(owner)).toStrictEqual(own);
    for (const id of [stranger, '', '\0']) expect(await passkeys.listByUser(id)).toEqual([]);
  });

  /** A passkey of the owner, another of theirs, and keys that are of neither. */
  const two = async ({ passkeys, owner, otherUser, stranger }: GivenStorage) => {
    const [passkey, other] = [aPasskey({ userId: owner, isSynced: true, counter: 3 }), aPasskey({ userId: owner })];
    for (const each of [passkey, other]) await passkeys.add(each);
    const unknown = [
      { id: stranger, userId: owner },
      { id: passkey.id, userId: otherUser },
      { id: '\0', userId: owner },
    ];
    return { passkey, other, unknown };
  };

  it('writes what a use has shown, and its time', async (given) => {
    const { passkeys, owner } = given;
    const { passkey, other, unknown } = await two(given);
    const used = { counter: 4, isBackedUp: true };
    expect(await passkeys.recordUse(passkey, used, NOW + 5)).toBe(true);
    for (const key of unknown) expect(await passkeys.recordUse(key, used, NOW + 9)).toBe(false);
    expect(await passkeys.listByUser(owner)).toStrictEqual([{ ...passkey, ...used, lastUsedAt: NOW + 5 }, other]);
  });

  it('never lowers a counter', async ({ passkeys, owner }) => {
    const passkey = aPasskey({ userId: owner, counter: 100 });
    await passkeys.add(passkey);
    await Promise.all(
      [101, 9, 105, 0, 104].map((counter) => passkeys.recordUse(passkey, { counter, isBackedUp: false }, NOW)),
    );
    expect(await passkeys.findByCredential(passkey.credentialId)).toMatchObject({ counter: 105 });
  });

  it('renames a passkey of its user alone', async (given) => {
    const { passkeys, owner } = given;
    const { passkey, other, unknown } = await two(given);
    const renamed = { ...passkey, name: 'Key ring' };
    expect(await passkeys.rename(passkey, 'Key ring')).toStrictEqual(renamed);
    for (const key of unknown) expect(await passkeys.rename(key, 'Mine')).toBeNull();
    expect(await passkeys.listByUser(owner)).toStrictEqual([renamed, other]);
  });

  it('removes a passkey of its user alone, and says so once', async (given) => {
    const { passkeys, another, owner } = given;
    const { passkey, other, unknown } = await two(given);
    for (const key of unknown) expect(await passkeys.remove(key)).toBeNull();
    const removed = await raced([passkeys, another.passkeys], RACERS, (instance) => instance.remove(passkey));
    expect(removed.filter((each) => each !== null)).toStrictEqual([passkey]);
    expect(await passkeys.listByUser(owner)).toStrictEqual([other]);
    await passkeys.add(passkey);
    expect(await passkeys.findByCredential(passkey.credentialId)).toStrictEqual(passkey);
  });
};

const addedDevice = async ({ devices }: GivenStorage, given: Partial<RememberedDevice>): Promise<RememberedDevice> => {
  const device = aRememberedDevice(given);
  await devices.add(device);
  return device;
};

export const devices = ({ it }: Tests<GivenStorage>): void => {
  it('lists the live devices of one user, the oldest first', async (given) => {
    const { devices, owner, otherUser, stranger } = given;
    const later = await addedDevice(given, { userId: owner, createdAt: NOW + 1, userAgent: 'curl/8' });
    const first = await addedDevice(given, { userId: owner, address: '192.0.2.0/24' });
    await addedDevice(given, { userId: owner, expiresAt: NOW });
    const live = await addedDevice(given, { userId: otherUser, expiresAt: NOW + 1 });
    expect(await devices.listByUser(owner, NOW)).toEqual([first, later]);
    expect(await devices.listByUser(otherUser, NOW)).toEqual([live]);
    expect([await devices.listByUser(stranger, NOW), await devices.listByUser('\0', NOW)]).toEqual([[], []]);
  });

  it('removes a device of its user alone, and says so once', async (given) => {
    const { devices, owner, otherUser } = given;
    const [device, kept] = [await addedDevice(given, { userId: owner }), await addedDevice(given, { userId: owner })];
    expect(await devices.remove({ id: device.id, userId: otherUser })).toBe(false);
    expect(await devices.remove({ id: '\0', userId: owner })).toBe(false);
    expect([await devices.remove(device), await devices.remove(device)]).toEqual([true, false]);
    expect(await devices.listByUser(owner, NOW)).toEqual([kept]);
  });

  it('removes all devices of one user, and returns their ids', async (given) => {
    const { devices, owner, otherUser } = given;
    const own = [await addedDevice(given, { userId: owner }), await addedDevice(given, { userId: owner })];
    const kept = await addedDevice(given, { userId: otherUser });
    const removed = await devices.removeOfUser(owner);
    expect(removed.toSorted()).toEqual(own.map(({ id }) => id).toSorted());
    expect([await devices.removeOfUser(owner), await devices.listByUser(owner, NOW)]).toEqual([[], []]);
    expect(await devices.listByUser(otherUser, NOW)).toEqual([kept]);
  });

  it('purges expired devices, and only those', async (given) => {
    const { devices, owner } = given;
    for (const at of [0, 1, 2, 3, 4]) await addedDevice(given, { userId: owner, expiresAt: NOW - at });
    const live = await addedDevice(given, { userId: owner, expiresAt: NOW + 1 });
    const purged = [];
    for (let round = 0; round < 4; round += 1) purged.push(await devices.purge(NOW, 2));
    expect(purged).toEqual([2, 2, 1, 0]);
    expect(await devices.removeOfUser(owner)).toEqual([live.id]);
  });
};

export const identities = ({ it }: Tests<GivenStorage>): void => {
  it('finds an identity by its issuer and its subject together', async ({ identities, owner, otherUser }) => {
    const { subject } = anIdentity();
    const [own, other] = [anIdentity({ userId: owner, subject }), anIdentity({ userId: otherUser })];
    const sameSubject = anIdentity({ userId: otherUser, subject, issuer: 'https://other.example/ä' });
    for (const each of [own, other, sameSubject]) await identities.add(each);
    for (const each of [own, other, sameSubject]) expect(await identities.find(each)).toEqual(each);
    for (const changed of [
      { subject: subject.toUpperCase() },
      { subject: `${subject} ` },
      { issuer: `${own.issuer}/` },
    ])
      expect(await identities.find({ ...own, ...changed })).toBeNull();
  });

  it('rejects an identity that is stored, also of another user, with DB_UNIQUE_VIOLATION', async (given) => {
    const { identities, another, owner, otherUser } = given;
    const { subject } = anIdentity();
    const add = async (instance: typeof identities, at: number): Promise<string> => {
      const identity = anIdentity({ subject, userId: at % 2 === 0 ? owner : otherUser });
      return instance.add(identity).then(
        () => 'added',
        ({ code }: AppError) => code,
      );
    };
    const outcomes = await raced([identities, another.identities], RACERS, add);
    expect(outcomes.toSorted()).toEqual([...Array(RACERS - 1).fill('DB_UNIQUE_VIOLATION'), 'added']);
  });

  it('lists the identities of one user, the oldest first', async ({ identities, owner, otherUser, stranger }) => {
    const own = [anIdentity({ userId: owner, lastUsedAt: NOW }), anIdentity({ userId: owner, email: null })];
    for (const each of own.toSorted(byId).toReversed()) await identities.add(each);
    await identities.add(anIdentity({ userId: otherUser }));
    expect(await identities.listByUser(owner)).toEqual(own.toSorted(byId));
    expect(await identities.listByUser(stranger)).toEqual([]);
  });

  it('writes the time of a use, and the address that the provider has stated', async ({ identities, owner }) => {
    const [used, untouched] = [anIdentity({ userId: owner }), anIdentity({ userId: owner })];
    for (const each of [used, untouched]) await identities.add(each);
    for (const [at, email] of [[NOW + 1, 'new@example.org'] as const, [NOW + 2, null] as const]) {
      expect(await identities.recordUse(used, email, at)).toBe(true);
      expect(await identities.find(used)).toEqual({ ...used, email, lastUsedAt: at });
    }
    expect(await identities.recordUse(anIdentity(), null, NOW)).toBe(false);
    expect(await identities.find(untouched)).toEqual(untouched);
  });

  it('removes an identity of its user alone, and says so once', async (given) => {
    const { identities, another, owner, otherUser } = given;
    const [identity, kept] = [anIdentity({ userId: owner }), anIdentity({ userId: owner })];
    for (const each of [identity, kept]) await identities.add(each);
    expect(await identities.remove({ id: identity.id, userId: otherUser })).toBeNull();
    const removed = await raced([identities, another.identities], RACERS, (instance) => instance.remove(identity));
    expect(removed.filter((each) => each !== null)).toEqual([identity]);
    expect(await identities.listByUser(owner)).toEqual([kept]);
  });
};
