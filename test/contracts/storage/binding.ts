import { expect } from 'vitest';
import { type DeviceProof, type Evidence, NO_PROOF_REQUIRED, PROOFS_KEPT } from '../../../src/domain/device.ts';
import type { Session } from '../../../src/domain/session.ts';
import { anId, aRotation } from '../../support/builders.ts';
import { outcomeOf } from '../../support/rotation/outcome.ts';
import type { Tests } from '../suite.ts';
import { DEVICE, raced } from './given.ts';
import type { GivenSessions } from './given-sessions.ts';

const RACERS = 30;
const [KEY, OTHER_KEY] = ['0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I', 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'];
const BROWSER = `${KEY}.${OTHER_KEY}`;
/** As of proofs of these days. */
const NUMBER = 1_795_500_000 * 2 ** 21;

const aProof = (number: number, key = KEY): DeviceProof => ({ key, number: NUMBER + number });
const by = (given: Partial<Evidence>): { readonly evidence: Evidence } => ({
  evidence: { ...NO_PROOF_REQUIRED, required: true, ...given },
});
const nextOf = (session: Session): Session => ({ ...session, rotation: session.rotation + 1 });

export const binding = ({ it }: Tests<GivenSessions>): void => {
  it('finds the keys of a session and its used proofs', async ({ sessions, owner, stored }) => {
    const proofs = Array.from({ length: PROOFS_KEPT }, (_, at) => Number.MAX_SAFE_INTEGER - 2 ** 40 * at);
    for (const keys of [{ deviceKey: KEY, proofs }, { browserKey: BROWSER }]) {
      const session = await stored(keys);
      expect(await sessions.find(session)).toStrictEqual(session);
      expect(await sessions.listByUser(owner, session.createdAt)).toContainEqual(session);
    }
  });

  it('remembers the device that rotated a session last, or used it since', async ({ sessions, stored }) => {
    const session = await stored(DEVICE);
    const [phone, unknown] = [
      { userAgent: 'a phone', address: '2001:db8::/48' },
      { userAgent: null, address: null },
    ];
    const first = aRotation(session, { device: phone });
    await sessions.rotate(first);
    expect(await sessions.find(session)).toMatchObject(phone);
    await sessions.rotate(aRotation(nextOf(session), { from: first.to, device: unknown }));
    expect(await sessions.find(session)).toMatchObject(unknown);
    expect(await sessions.update(session, DEVICE)).toBe(true);
    expect(await sessions.find(session)).toMatchObject(DEVICE);
  });

  it('rotates a session with a key of its device only with an unused proof of it, unless none is required', async (given) => {
    const { sessions, stored } = given;
    const [session, unbound] = [await stored({ deviceKey: KEY, proofs: [aProof(1).number] }), await stored()];
    const foreign = [null, aProof(2, OTHER_KEY), aProof(1)].map((proof) => by({ proof }));
    for (const refused of [...foreign, by({ browserKey: BROWSER })])
      expect(await sessions.rotate(aRotation(session, refused))).toBe('stale');
    expect(await sessions.find(session)).toStrictEqual(session);

    const first = aRotation(session, by({ proof: aProof(2) }));
    expect(await sessions.rotate(first)).toHaveProperty('user');
    const proofs = [aProof(2).number, aProof(1).number];
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: first.to, deviceKey: KEY, proofs });
    const second = { from: first.to, evidence: NO_PROOF_REQUIRED };
    expect(await sessions.rotate(aRotation(nextOf(session), second))).toHaveProperty('user');
    expect(await sessions.find(session)).toMatchObject({ deviceKey: KEY, proofs });

    expect(await sessions.rotate(aRotation(unbound, by({ proof: aProof(1) })))).toHaveProperty('user');
    expect(await sessions.find(unbound)).toMatchObject({ deviceKey: null, browserKey: null, proofs: [] });
  });

  it('rotates a session with a key of its browser by that key, or by a proof of the key of its page', async (given) => {
    const { sessions, stored } = given;
    const [session, both] = [
      await stored({ browserKey: BROWSER }),
      await stored({ browserKey: BROWSER, deviceKey: KEY }),
    ];
    for (const refused of [by({}), by({ browserKey: `${BROWSER}x` }), by({ proof: aProof(1) })])
      expect(await sessions.rotate(aRotation(session, refused))).toBe('stale');
    expect(await sessions.find(session)).toStrictEqual(session);
    expect(await sessions.rotate(aRotation(session, by({ browserKey: BROWSER })))).toHaveProperty('user');

    const first = aRotation(both, by({ browserKey: BROWSER }));
    expect(await sessions.rotate(first)).toHaveProperty('user');
    const second = aRotation(nextOf(both), { from: first.to, ...by({ proof: aProof(1) }) });
    expect(await sessions.rotate(second)).toHaveProperty('user');
    expect(await sessions.find(both)).toMatchObject({ browserKey: BROWSER, proofs: [aProof(1).number] });
  });

  it('remembers the greatest numbers of used proofs, also after a revert, and counts numbers below all of these as used', async (given) => {
    const { sessions, stored } = given;
    const session = await stored({ deviceKey: KEY });
    // Later ones arrive first.
    const numbers = Array.from({ length: PROOFS_KEPT }, (_, at) => 2 * (PROOFS_KEPT - at));
    for (const [at, number] of numbers.entries())
      expect(await sessions.useProof(session, aProof(number)), `proof ${at}`).toBe(true);
    for (const number of numbers) expect(await sessions.useProof(session, aProof(number))).toBe(false);
    const [lowest, second] = [2, 4];
    expect(await sessions.useProof(session, aProof(lowest - 1))).toBe(false);
    expect(await sessions.useProof(session, aProof(second - 1))).toBe(true);
    for (const used of [lowest, second - 1]) expect(await sessions.useProof(session, aProof(used))).toBe(false);

    const rotation = aRotation(session, by({ proof: aProof(100) }));
    expect(await sessions.rotate(rotation)).toHaveProperty('user');
    await sessions.revert(rotation);
    expect(await sessions.useProof(session, aProof(100))).toBe(false);
    const proofs = [100, ...numbers, second - 1].toSorted((a, b) => b - a).slice(0, PROOFS_KEPT);
    expect(await sessions.find(session)).toStrictEqual({
      ...session,
      proofs: proofs.map((number) => aProof(number).number),
      ...DONE(rotation),
    });
  });

  it('accepts exactly one of many concurrent uses of one proof', async ({ sessions, another, storedSeries }) => {
    for (const session of await storedSeries(3, { deviceKey: KEY })) {
      const uses = await raced([sessions, another.sessions], RACERS, async (instance, at) =>
        at % 3 === 0
          ? instance.useProof(session, aProof(1))
          : outcomeOf(await instance.rotate(aRotation(session, by({ proof: aProof(1) })))) === 'rotated',
      );
      expect(uses.filter((used) => used)).toHaveLength(1);
      const different = await Promise.all(
        Array.from({ length: 8 }, (_, at) => sessions.useProof(session, aProof(2 + at))),
      );
      expect(different).not.toContain(false);
      const expected = [9, 8, 7, 6, 5, 4, 3, 2, 1].map((number) => aProof(number).number);
      expect(await sessions.find(session)).toMatchObject({ proofs: expected });
    }
  });

  it('uses a proof only for a session that has its key', async ({ sessions, otherUser, stored }) => {
    const [session, unbound] = [await stored({ deviceKey: KEY }), await stored()];
    expect(await sessions.useProof(session, aProof(1, OTHER_KEY))).toBe(false);
    expect(await sessions.useProof(unbound, aProof(1))).toBe(false);
    expect(await sessions.useProof({ id: session.id, userId: otherUser }, aProof(1))).toBe(false);
    expect(await sessions.useProof({ id: anId(), userId: session.userId }, aProof(1))).toBe(false);
    for (const each of [session, unbound]) expect(await sessions.find(each)).toStrictEqual(each);
  });

  it('replaces the keys of a session by that of a page, and forgets no used proof', async (given) => {
    const { sessions, otherUser, stored } = given;
    const [session, other] = [await stored({ browserKey: BROWSER }), await stored({ deviceKey: KEY })];
    expect(await sessions.bindPage(session, KEY)).toBe(true);
    expect(await sessions.useProof(session, aProof(1))).toBe(true);
    expect(await sessions.bindPage(session, KEY)).toBe(true);
    expect(await sessions.useProof(session, aProof(1))).toBe(false);
    expect(await sessions.bindPage(session, OTHER_KEY)).toBe(true);
    expect(await sessions.useProof(session, aProof(2))).toBe(false);
    expect(await sessions.useProof(session, aProof(2, OTHER_KEY))).toBe(true);
    const proofs = [aProof(2).number, aProof(1).number];
    expect(await sessions.find(session)).toStrictEqual({ ...session, deviceKey: OTHER_KEY, browserKey: null, proofs });

    for (const key of [
      { id: anId(), userId: other.userId },
      { id: other.id, userId: otherUser },
    ])
      expect(await sessions.bindPage(key, OTHER_KEY)).toBe(false);
    expect(await sessions.find(other)).toStrictEqual(other);
  });

  it('keeps the first key of a browser', async ({ sessions, otherUser, stored }) => {
    const [session, other] = [await stored({ deviceKey: KEY, proofs: [aProof(1).number] }), await stored()];
    for (const [key, bound] of [
      [BROWSER, true],
      [`${BROWSER}x`, false],
      [BROWSER, true],
    ] as const)
      expect(await sessions.bindBrowser(session, key)).toBe(bound);
    expect(await sessions.find(session)).toStrictEqual({ ...session, browserKey: BROWSER });

    for (const key of [
      { id: anId(), userId: other.userId },
      { id: other.id, userId: otherUser },
    ])
      expect(await sessions.bindBrowser(key, BROWSER)).toBe(false);
    expect(await sessions.find(other)).toStrictEqual(other);
  });

  it('accepts exactly one of many concurrent first keys of a browser', async ({ sessions, stored }) => {
    const session = await stored();
    const keys = Array.from({ length: 10 }, (_, at) => `${BROWSER}${at}`);
    const bound = await Promise.all(keys.map((key) => sessions.bindBrowser(session, key)));
    expect(bound.filter((each) => each)).toHaveLength(1);
    expect(await sessions.find(session)).toMatchObject({ browserKey: keys[bound.indexOf(true)] });
  });

  it('does not bring back a session that ends while a proof is used or a key is bound', async (given) => {
    const { sessions, storedSeries } = given;
    const calls = [
      (session: Session) => sessions.useProof(session, aProof(1)),
      (session: Session) => sessions.bindPage(session, OTHER_KEY),
      (session: Session) => sessions.bindBrowser(session, BROWSER),
    ];
    for (const call of calls) {
      const series = await storedSeries(10, { deviceKey: KEY });
      await Promise.all(series.flatMap((session): Promise<unknown>[] => [call(session), sessions.end(session)]));
      for (const session of series) expect(await sessions.find(session)).toBeNull();
    }
  });
};

/** What a rotation that was reverted leaves behind. */
const DONE = ({ from, at, number, expiresAt, device }: ReturnType<typeof aRotation>): Partial<Session> => ({
  currentTokenId: from,
  previousTokenId: from,
  rotatedAt: at,
  rotation: number + 1,
  burstStartedAt: at,
  burstFirst: number,
  expiresAt,
  ...device,
});
