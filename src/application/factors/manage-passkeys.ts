import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { defaultPasskeyName, PASSKEYS_PER_USER, type Passkey } from '../../domain/passkey.ts';
import { hasNothingElse } from '../login/login.ts';
import { recordChange } from '../notices.ts';
import type { CreationMediation, NewCredential } from '../ports/webauthn.ts';
import { pick, record, type Service } from '../service.ts';
import { type Caller, liveUser, lockedFactorOwner } from '../sessions/current-user.ts';
import { codesOf, passkeysOf } from '../storage/credentials.ts';
import { changeRow, removeRow } from '../storage/rows.ts';
import { replaceCodes } from './enrol-app.ts';
import { invalidPasskey, newChallenge, openChallenge, useChallenge } from './use-passkey.ts';

export type PasskeyInvitation = {
  readonly challenge: string;
  readonly userHandle: string;
  readonly username: string;
  /** Those that the user has: their authenticators make no second one. */
  readonly existing: readonly Pick<Passkey, 'credentialId' | 'transports'>[];
};

export const invitePasskey =
  (deps: Service) =>
  async (caller: Caller): Promise<PasskeyInvitation> => {
    const { id: userId, username } = await liveUser(deps, caller);
    const existing = await passkeysOf(deps.records, userId);
    const userHandle = existing[0]?.userHandle ?? deps.secrets.random();
    const { sessionId } = caller;
    const { challenge } = newChallenge(deps, { purpose: 'passkey-registration', userId, sessionId, value: userHandle });
    return { challenge, userHandle, username, existing };
  };

type NewPasskey = {
  readonly credential: NewCredential;
  readonly name?: string | undefined;
  readonly mediation?: CreationMediation;
};

/**
 * Stores a passkey that answers an invitation to the session of the request, and makes recovery codes for a user who has nothing else, and none of them.
 */
export const addPasskey =
  (deps: Service) =>
  async (
    caller: Caller,
    { credential, name, mediation }: NewPasskey,
    origin: Origin = NO_ORIGIN,
  ): Promise<ListedPasskey & { readonly recoveryCodes?: readonly string[] }> => {
    const { userId, sessionId } = caller;
    const challenge = openChallenge(deps, credential, 'passkey-registration');
    if (challenge.userId !== userId || challenge.sessionId !== sessionId)
      throw invalidPasskey('the challenge of another session');
    const verified = await deps.webauthn.verifyNew(credential, challenge.text, mediation);
    if (verified === null) throw invalidPasskey('the answer does not verify');
    const [, userHandle = ''] = challenge.value.split('.');
    const passkey: Passkey = {
      ...verified,
      id: deps.ids.next(),
      userId,
      userHandle,
      name: name ?? defaultPasskeyName(verified.aaguid),
      createdAt: deps.clock.now(),
      lastUsedAt: null,
    };
    return deps.transactions.run(async (stores) => {
      const user = await lockedFactorOwner(deps, stores, caller);
      const existing = await passkeysOf(stores.records, userId);
      assertFits(passkey, existing);
      await useChallenge(stores, challenge);
      await stores.records.insert('passkeys', passkey);
      const hasCodes = (await codesOf(stores.records, userId)).length > 0;
      const isAlone = !hasCodes && (await hasNothingElse(deps, stores.records, user));
      const recoveryCodes = isAlone ? await replaceCodes(deps, stores, userId) : null;
      const added = [passkey.id, ...(isAlone ? await codesOf(stores.records, userId) : [])];
      if (isAlone) await record(deps, stores, origin, [{ userId, kind: 'recovery-codes-made', sessionId }]);
      await recordChange(deps, stores, { kind: 'passkey-added', user, sessionId, origin, added });
      return { ...listedPasskey(passkey), ...(recoveryCodes && { recoveryCodes }) };
    });
  };

/** Two invitations of a user without passkeys have different handles. The first that is answered counts. */
const assertFits = ({ userHandle }: Passkey, existing: readonly Passkey[]): void => {
  if (existing.some((other) => other.userHandle !== userHandle)) throw invalidPasskey('the user has another handle');
  if (existing.length >= PASSKEYS_PER_USER) throw invalidPasskey('the user has as many passkeys as there may be');
};

const listedPasskey = (passkey: Passkey) =>
  pick(passkey, 'id', 'credentialId', 'aaguid', 'isSynced', 'isBackedUp', 'name', 'createdAt', 'lastUsedAt');
export type ListedPasskey = ReturnType<typeof listedPasskey>;

/** The passkeys of a user, the oldest first. */
export const listPasskeys =
  (deps: Service) =>
  async (caller: Caller): Promise<ListedPasskey[]> => {
    const { id } = await liveUser(deps, caller);
    return (await passkeysOf(deps.records, id)).map(listedPasskey);
  };

export const renamePasskey =
  (deps: Service) =>
  (caller: Caller, id: string, name: string): Promise<ListedPasskey> =>
    deps.transactions.run(async (stores) => {
      const { id: userId } = await lockedFactorOwner(deps, stores, caller);
      const renamed = await changeRow(stores.records, 'passkeys', { id, userId }, (row) => ({ ...row, name }));
      if (renamed === null) throw noSuchPasskey();
      return listedPasskey(renamed);
    });

/** The passkeys that the service accepts from now on, so that the browser can hide the others. */
export type AcceptedPasskeys = { readonly userHandle: string; readonly credentialIds: readonly string[] };

export const removePasskey =
  (deps: Service) =>
  (caller: Caller, id: string, origin: Origin = NO_ORIGIN): Promise<AcceptedPasskeys> =>
    deps.transactions.run(async (stores) => {
      const user = await lockedFactorOwner(deps, stores, caller);
      const { id: userId } = user;
      const removed = await removeRow(stores.records, 'passkeys', { id, userId });
      if (removed === null) throw noSuchPasskey();
      const { sessionId } = caller;
      await recordChange(deps, stores, { kind: 'passkey-removed', user, sessionId, origin, added: [] });
      const left = await passkeysOf(stores.records, userId);
      return { userHandle: removed.userHandle, credentialIds: left.map(({ credentialId }) => credentialId) };
    });

const noSuchPasskey = (): AppError => new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such passkey' });
