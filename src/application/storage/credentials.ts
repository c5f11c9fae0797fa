import type { Identity, IdentityKey } from '../../domain/identity.ts';
import type { Link, LinkPurpose } from '../../domain/link.ts';
import type { Passkey, PasskeyKey, PasskeyState } from '../../domain/passkey.ts';
import type { Invitation } from '../../domain/registration.ts';
import type { RememberedDevice } from '../../domain/remembered-device.ts';
import type { Factor, FactorKey } from '../../domain/second-factor.ts';
import type { Equal, Records } from './records.ts';
import {
  changeRow,
  findRow,
  inOrder,
  insertOrChangeRow,
  insertUnlessPresent,
  removeRow,
  removeRows,
  withoutVersion,
} from './rows.ts';
import { keyName, TABLES } from './tables.ts';

/** The authenticator apps of a user, the oldest first. */
export const factorsOf = async (records: Records, userId: string): Promise<Factor[]> =>
  (await records.list('factors', { equal: { userId }, order: ['id'] })).map(withoutVersion);

/** Confirms the factor, if it is not. @returns whether the step was used now: neither it nor a later one was used before. */
export const useStep = async (records: Records, { id, userId }: FactorKey, step: number, now: number) => {
  const used = await changeRow(records, 'factors', { id, userId }, (row) =>
    row.lastStep < step ? { ...row, lastStep: step, confirmedAt: row.confirmedAt ?? now } : null,
  );
  return used !== null;
};

/** Replaces the recovery codes of a user, in a unit that has locked the user. */
export const storeCodes = async (records: Records, userId: string, hashes: readonly string[]): Promise<void> => {
  await removeRows(records, 'recoveryCodes', { userId });
  for (const hash of hashes) await records.insert('recoveryCodes', { userId, hash });
};

/** @returns whether the user had such a code, which is gone now. */
export const useCode = async (records: Records, userId: string, hash: string): Promise<boolean> =>
  (await removeRow(records, 'recoveryCodes', { userId, hash })) !== null;

export const codesOf = async (records: Records, userId: string): Promise<string[]> =>
  (await records.list('recoveryCodes', { equal: { userId } })).map(({ hash }) => hash);

export const findPasskey = async (records: Records, credentialId: string): Promise<Passkey | null> => {
  const passkey = await findRow(records, 'passkeys', { credentialId });
  return passkey && withoutVersion(passkey);
};

/** The passkeys of a user, the oldest first. */
export const passkeysOf = async (records: Records, userId: string): Promise<Passkey[]> =>
  (await records.list('passkeys', { equal: { userId }, order: ['id'] })).map(withoutVersion);

/** Never lowers the counter. @returns whether the user had such a passkey. */
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

export const findIdentity = async (records: Records, { issuer, subject }: IdentityKey): Promise<Identity | null> => {
  const identity = await findRow(records, 'identities', { issuer, subject });
  return identity && withoutVersion(identity);
};

/** The identities of a user, the oldest first. */
export const identitiesOf = async (records: Records, userId: string): Promise<Identity[]> =>
  (await records.list('identities', { equal: { userId }, order: ['id'] })).map(withoutVersion);

const byAge = (a: RememberedDevice, b: RememberedDevice): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** The live devices of a user on which the second factor is not asked for again, the oldest first. */
export const devicesOf = async (records: Records, userId: string, now: number): Promise<RememberedDevice[]> => {
  const [endings, devices] = await inOrder(
    records,
    () => records.list('massEndings', { order: ['id'] }),
    () => records.list('rememberedDevices', { equal: { userId } }),
  );
  return devices
    .filter(({ createdAt, expiresAt }) => now < expiresAt && !endings.some(({ at }) => createdAt <= at))
    .map(withoutVersion)
    .sort(byAge);
};

const isLive = ({ expiresAt }: { readonly expiresAt: number }, now: number): boolean => now < expiresAt;

/** Replaces the link of the same user and purpose that undoes from the same time on. */
export const putLink = async (records: Records, link: Link): Promise<void> => {
  const { userId, purpose, since } = link;
  await insertOrChangeRow(records, 'links', { userId, purpose, since }, keyName(TABLES.links), () => link);
};

export const linkByToken = async (records: Records, purpose: LinkPurpose, tokenHash: string, now: number) => {
  const link = await findRow(records, 'links', { tokenHash, purpose });
  return link !== null && isLive(link, now) ? withoutVersion(link) : null;
};

/** Removes a live link and returns it; `null` when there is none. One of several concurrent callers gets it. */
export const takeLink = (records: Records, purpose: LinkPurpose, tokenHash: string, now: number) =>
  removeRow(records, 'links', { tokenHash, purpose }, (row) => isLive(row, now));

/** The live links of all users about an address, in canonical form. */
export const linksAbout = async (records: Records, purpose: LinkPurpose, email: string, now: number) => {
  const links = await records.list('links', { equal: { email, purpose } });
  return links.filter((link) => isLive(link, now)).map(withoutVersion);
};

export const linksOf = async (records: Records, userId: string, now: number): Promise<Link[]> => {
  const links = await records.list('links', { equal: { userId }, order: ['purpose'] });
  return links.filter((link) => isLive(link, now)).map(withoutVersion);
};

export const deleteLinks = async (records: Records, userId: string, purposes: readonly LinkPurpose[]) => {
  await removeRows(records, 'links', { userId }, ({ purpose }) => purposes.includes(purpose));
};

/** Replaces the invitation of the same address. */
export const putInvitation = async (records: Records, invitation: Invitation): Promise<void> => {
  const { email } = invitation;
  await insertOrChangeRow(records, 'invitations', { email }, keyName(TABLES.invitations), () => invitation);
};

/** The live invitation of an address, or of a token. */
export const findInvitation = async (records: Records, by: Equal<'invitations'>, now: number) => {
  const found = await findRow(records, 'invitations', by);
  return found !== null && isLive(found, now) ? withoutVersion(found) : null;
};

/** Removes a live invitation that was found, unless it was replaced. @returns whether this caller did so: one of several concurrent ones does. */
export const takeInvitation = async (
  records: Records,
  { email, tokenHash }: Pick<Invitation, 'email' | 'tokenHash'>,
  now: number,
): Promise<boolean> =>
  (await removeRow(records, 'invitations', { email, tokenHash }, (row) => isLive(row, now))) !== null;

/** The live invitations, in the order of their addresses. */
export const listInvitations = async (records: Records, now: number, limit: number): Promise<Invitation[]> => {
  const rows = await records.list('invitations', { order: ['email'], limit });
  return rows.filter((row) => isLive(row, now)).map(withoutVersion);
};

/**
 * Remembers a value that is accepted once, such as the id of a token or a proof.
 * @param id of up to 200 printable ASCII characters.
 * @param expiresAt epoch milliseconds, from when on nobody accepts the value any more.
 * @returns whether this is the first use: true for one of several concurrent callers.
 */
export const useOnce = (records: Records, id: string, expiresAt: number): Promise<boolean> =>
  insertUnlessPresent(records, 'usedValues', { id }, keyName(TABLES.usedValues), { id, expiresAt });
