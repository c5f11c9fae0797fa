import type { RememberedDevice } from '../../domain/device.ts';
import type { Identity, IdentityKey } from '../../domain/identity.ts';
import type { Link, LinkPurpose } from '../../domain/link.ts';
import type { Passkey, PasskeyKey, PasskeyState } from '../../domain/passkey.ts';
import type { Invitation } from '../../domain/registration.ts';
import type { Factor, FactorKey } from '../../domain/second-factor.ts';
import { isLive } from '../../domain/session.ts';
import type { Equal, Records } from './records.ts';
import {
  byId,
  changeRow,
  inOrder,
  insertOrChangeRow,
  insertUnlessPresent,
  readRow,
  readRows,
  removeRow,
  removeRows,
} from './rows.ts';

/** The authenticator apps of a user, the oldest first. */
export const factorsOf = (records: Records, userId: string): Promise<Factor[]> =>
  readRows(records, 'factors', { equal: { userId }, order: ['id'] });

/** Uses a time step of an authenticator app, and confirms the app. @returns `false` if this step or a later one was used before, or the app is gone. */
export const useStep = async (records: Records, { id, userId }: FactorKey, step: number, now: number) => {
  const used = await changeRow(records, 'factors', { id, userId }, (row) =>
    row.lastStep < step ? { ...row, lastStep: step, confirmedAt: row.confirmedAt ?? now } : null,
  );
  return used !== null;
};

/** Replaces the recovery codes of a user, in a unit that has locked the user. */
export const storeRecoveryCodes = async (records: Records, userId: string, hashes: readonly string[]) => {
  await removeRows(records, 'recoveryCodes', { userId });
  for (const hash of hashes) await records.insert('recoveryCodes', { userId, hash });
};

/** Removes a recovery code. @returns whether the user had it. */
export const useRecoveryCode = async (records: Records, userId: string, hash: string): Promise<boolean> =>
  (await removeRow(records, 'recoveryCodes', { userId, hash })) !== null;

export const recoveryCodesOf = async (records: Records, userId: string): Promise<string[]> =>
  (await records.list('recoveryCodes', { equal: { userId } })).map(({ hash }) => hash);

export const findPasskey = (records: Records, credentialId: string) => readRow(records, 'passkeys', { credentialId });

/** The passkeys of a user, the oldest first. */
export const passkeysOf = (records: Records, userId: string): Promise<Passkey[]> =>
  readRows(records, 'passkeys', { equal: { userId }, order: ['id'] });

/** Records the use of a passkey, and never lowers its counter. @returns whether the user had such a passkey. */
export const recordPasskeyUse = async (
  records: Records,
  { id, userId }: PasskeyKey,
  { counter, isBackedUp }: PasskeyState,
  now: number,
): Promise<boolean> => {
  const used = await changeRow(records, 'passkeys', { id, userId }, (row) => ({
    ...row,
    counter: Math.max(row.counter, counter),
    isBackedUp,
    lastUsedAt: now,
  }));
  return used !== null;
};

export const findIdentity = (records: Records, { issuer, subject }: IdentityKey): Promise<Identity | null> =>
  readRow(records, 'identities', { issuer, subject });

/** The identities of a user, the oldest first. */
export const identitiesOf = (records: Records, userId: string): Promise<Identity[]> =>
  readRows(records, 'identities', { equal: { userId }, order: ['id'] });

/** The live remembered devices of a user, the oldest first. */
export const devicesOf = async (records: Records, userId: string, now: number): Promise<RememberedDevice[]> => {
  const [endings, devices] = await inOrder(
    records,
    () => records.list('massEndings', { order: ['id'] }),
    () => readRows(records, 'rememberedDevices', { equal: { userId } }),
  );
  return devices
    .filter((device) => isLive(device, now) && !endings.some(({ at }) => device.createdAt <= at))
    .sort((a, b) => a.createdAt - b.createdAt || byId(a, b));
};

/** Stores a link, and replaces one with the same user, purpose and `since`. */
export const putLink = async (records: Records, link: Link): Promise<void> => {
  const { userId, purpose, since } = link;
  await insertOrChangeRow(records, 'links', { userId, purpose, since }, () => link);
};

export const linkByToken = async (records: Records, purpose: LinkPurpose, tokenHash: string, now: number) => {
  const link = await readRow(records, 'links', { tokenHash, purpose });
  return link !== null && isLive(link, now) ? link : null;
};

/** Removes a live link. @returns the link, to one of several concurrent callers. */
export const takeLink = (records: Records, purpose: LinkPurpose, tokenHash: string, now: number) =>
  removeRow(records, 'links', { tokenHash, purpose }, (row) => isLive(row, now));

/** The live links of a purpose about a canonical address, of all users. */
export const linksAbout = async (records: Records, purpose: LinkPurpose, email: string, now: number) =>
  (await readRows(records, 'links', { equal: { email, purpose } })).filter((link) => isLive(link, now));

export const linksOf = async (records: Records, userId: string, now: number): Promise<Link[]> =>
  (await readRows(records, 'links', { equal: { userId }, order: ['purpose'] })).filter((link) => isLive(link, now));

export const deleteLinks = async (records: Records, userId: string, purposes: readonly LinkPurpose[]) => {
  await removeRows(records, 'links', { userId }, ({ purpose }) => purposes.includes(purpose));
};

/** Stores an invitation, and replaces a former one to the same address. */
export const putInvitation = async (records: Records, invitation: Invitation): Promise<void> => {
  await insertOrChangeRow(records, 'invitations', { email: invitation.email }, () => invitation);
};

/** The live invitation of an address, or of a token. */
export const findInvitation = async (records: Records, by: Equal<'invitations'>, now: number) => {
  const found = await readRow(records, 'invitations', by);
  return found !== null && isLive(found, now) ? found : null;
};

/** Removes a live invitation, unless it was replaced. @returns `true` for one of several concurrent callers. */
export const takeInvitation = async (
  records: Records,
  { email, tokenHash }: Pick<Invitation, 'email' | 'tokenHash'>,
  now: number,
) => (await removeRow(records, 'invitations', { email, tokenHash }, (row) => isLive(row, now))) !== null;

export const listInvitations = async (records: Records, now: number, limit: number): Promise<Invitation[]> =>
  (await readRows(records, 'invitations', { order: ['email'], limit })).filter((row) => isLive(row, now));

/**
 * Uses a value up, such as the id of a token. @param id up to 200 printable ASCII characters.
 * @param expiresAt epoch milliseconds: from then on the value may be forgotten.
 * @returns whether this is the first use: `true` for one of several concurrent callers.
 */
export const useOnce = (records: Records, id: string, expiresAt: number): Promise<boolean> =>
  insertUnlessPresent(records, 'usedValues', { id }, { id, expiresAt });
