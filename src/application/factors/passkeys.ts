import type { Method } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import {
  CHALLENGE_LIFETIME,
  defaultPasskeyName,
  isCopySuspected,
  PASSKEYS_PER_USER,
  type Passkey,
} from '../../domain/passkey.ts';
import { hasOnlyPasskeys } from '../login/login.ts';
import { loginClient, openLogin } from '../login/open-login.ts';
import { type NotifiedUser, recordChange } from '../notices.ts';
import type { SignedValue } from '../ports/secrets.ts';
import type { CreationMediation, NewCredential, UsedCredential, VerifiedUse, WebAuthn } from '../ports/webauthn.ts';
import { type Core, NEVER_CANCELLED, pick, record, type Service } from '../service.ts';
import { type Caller, liveUser, lockedFactorOwner } from '../sessions/current-user.ts';
import type { OpenedSession } from '../sessions/open-session.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { findPasskey, passkeysOf, recordPasskeyUse, recoveryCodesOf, useOnce } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { changeRow, removeRow } from '../storage/rows.ts';
import { replaceCodes } from './enrol-app.ts';

type ChallengePurpose = Extract<SignedValue['purpose'], 'passkey-registration' | 'passkey-use'>;

type ChallengeContent = Pick<SignedValue, 'userId' | 'sessionId'> & {
  readonly purpose: ChallengePurpose;
  readonly value?: string;
};

/** Makes a challenge for the options of a browser. It is not stored before it is used. */
const newChallenge = ({ secrets, clock, ids }: Service, { value = '', ...content }: ChallengeContent) => {
  const expiresAt = clock.now() + CHALLENGE_LIFETIME;
  return { challenge: secrets.sign({ ...content, value: `${ids.next()}.${value}`, expiresAt }), expiresAt };
};

export const invalidPasskey = (reason: string): AppError => new AppError('AUTH_PASSKEY_INVALID', { reason });

export type Challenge = SignedValue & { readonly text: string };

/** @throws AppError AUTH_PASSKEY_INVALID unless the credential answers an unexpired challenge of this service and purpose. */
const openChallenge = (
  { webauthn, secrets, clock }: Service,
  credential: Parameters<WebAuthn['challengeOf']>[0],
  purpose: ChallengePurpose,
): Challenge => {
  const text = webauthn.challengeOf(credential);
  const signed = text === null ? null : secrets.unsign(text, purpose, clock.now());
  if (text === null || signed === null) throw invalidPasskey('no challenge of this service, or it has expired');
  return { ...signed, text };
};

/** Uses a challenge up, in the transaction of what it allows. @throws AppError AUTH_PASSKEY_INVALID when it was used. */
const useChallenge = async ({ records }: Stores, { value, expiresAt }: Pick<Challenge, 'value' | 'expiresAt'>) => {
  const [id] = value.split('.');
  if (!(await useOnce(records, `passkey-challenge ${id}`, expiresAt))) throw invalidPasskey('the challenge was used');
};

/** A passkey that a user has presented. The caller of `verifyPasskey` has to call `usePasskey`, which uses the challenge up. */
type VerifiedPasskey = {
  readonly passkey: Passkey;
  readonly use: VerifiedUse;
  readonly challenge: Challenge;
  readonly method: Extract<Method, 'passkey' | 'verified-passkey'>;
};

/** @throws AppError AUTH_PASSKEY_INVALID; DB_RECORD_NOT_FOUND for an unknown passkey. */
export const verifyPasskey = async (deps: Service, credential: UsedCredential): Promise<VerifiedPasskey> => {
  const challenge = openChallenge(deps, credential, 'passkey-use');
  const passkey = await findPasskey(deps.records, credential.id);
  if (passkey === null) throw unknownPasskey();
  const use = await deps.webauthn.verifyUse(credential, challenge.text, passkey);
  if (use === null) throw invalidPasskey('the answer does not verify');
  return { passkey, use, challenge, method: use.isUserVerified ? 'verified-passkey' : 'passkey' };
};

const unknownPasskey = (): AppError => new AppError('DB_RECORD_NOT_FOUND', { reason: 'nobody has such a passkey' });

/**
 * Records the use of a passkey, in a transaction that has locked its user. If the counter shows that there may be a copy of the key, an event says so, and
 * the request goes on: the service cannot know which of the two devices is the owner's (WebAuthn Level 3 §7.2).
 * @throws AppError AUTH_PASSKEY_INVALID when its challenge was used; DB_RECORD_NOT_FOUND when the passkey was removed.
 */
export const usePasskey = async (
  deps: Core,
  stores: Stores,
  { passkey, use, challenge }: VerifiedPasskey,
  { user, origin }: { readonly user: NotifiedUser; readonly origin: Origin },
): Promise<void> => {
  await useChallenge(stores, challenge);
  const stored = await findPasskey(stores.records, passkey.credentialId);
  if (stored === null || !(await recordPasskeyUse(stores.records, passkey, use, deps.clock.now())))
    throw unknownPasskey();
  if (!isCopySuspected(stored, use)) return;
  await recordChange(deps, stores, { kind: 'passkey-copy-suspected', user, origin });
};

/** A challenge for a passkey of any user. It is not stored, so a page may ask for a challenge whenever it is opened. */
export const passkeyChallenge = (deps: Service) => () =>
  newChallenge(deps, { purpose: 'passkey-use', userId: '', sessionId: '' });

type PasskeyLogin = ClientContext & { readonly credential: UsedCredential };

export const logInWithPasskey =
  (deps: Service) =>
  async (input: PasskeyLogin, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const client = await loginClient(deps, input);
    const answer = await verifyPasskey(deps, input.credential);
    const user = await deps.users.findById(answer.passkey.userId);
    if (user === null) throw unknownPasskey();
    const authentications = [{ method: answer.method, at: deps.clock.now() }] as const;
    return openLogin(deps, client, { user, authentications, cancellation }, async (stores, store) => {
      const locked = await stores.users.lock(user.id);
      if (locked === null) throw unknownPasskey();
      await usePasskey(deps, stores, answer, { user: locked, origin: client.origin });
      return store(locked);
    });
  };

/** `existing`: the passkeys that the user has, so that their authenticators make no second one. */
export const beginPasskeyRegistration = (deps: Service) => async (caller: Caller) => {
  const { id: userId, username } = await liveUser(deps, caller);
  const existing = await passkeysOf(deps.records, userId);
  const userHandle = existing[0]?.userHandle ?? deps.secrets.random();
  const { sessionId } = caller;
  const { challenge } = newChallenge(deps, { purpose: 'passkey-registration', userId, sessionId, value: userHandle });
  return { challenge, userHandle, username, existing };
};
export type PasskeyRegistration = Awaited<ReturnType<ReturnType<typeof beginPasskeyRegistration>>>;

type NewPasskey = {
  readonly credential: NewCredential;
  readonly name?: string | undefined;
  readonly mediation?: CreationMediation;
};

/** Stores a passkey whose registration the session of the request has begun. A user with no recovery codes and only passkeys (`hasOnlyPasskeys`) gets codes. */
export const addPasskey =
  (deps: Service) =>
  async (caller: Caller, { credential, name, mediation }: NewPasskey, origin: Origin = NO_ORIGIN) => {
    const { userId, sessionId } = caller;
    const challenge = openChallenge(deps, credential, 'passkey-registration');
    if (challenge.sessionId !== sessionId) throw invalidPasskey('the challenge of another session');
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
      const hasCodes = (await recoveryCodesOf(stores.records, userId)).length > 0;
      const isOnlyWay = !hasCodes && (await hasOnlyPasskeys(deps, stores.records, user));
      const recoveryCodes = isOnlyWay ? await replaceCodes(deps, stores, userId) : null;
      const added = [passkey.id, ...(isOnlyWay ? await recoveryCodesOf(stores.records, userId) : [])];
      if (isOnlyWay) await record(deps, stores, origin, [{ userId, kind: 'recovery-codes-made', sessionId }]);
      await recordChange(deps, stores, { kind: 'passkey-added', user, sessionId, origin, added });
      return { ...listedPasskey(passkey), ...(recoveryCodes && { recoveryCodes }) };
    });
  };

/** Two registrations that began before the user had a passkey have different user handles. Only the one that ends first is accepted. */
const assertFits = ({ userHandle }: Passkey, existing: readonly Passkey[]): void => {
  if (existing.some((other) => other.userHandle !== userHandle)) throw invalidPasskey('the user has another handle');
  if (existing.length >= PASSKEYS_PER_USER) throw invalidPasskey('the user has as many passkeys as there may be');
};

const listedPasskey = (passkey: Passkey) =>
  pick(passkey, 'id', 'credentialId', 'aaguid', 'isSynced', 'isBackedUp', 'name', 'createdAt', 'lastUsedAt');
export type ListedPasskey = ReturnType<typeof listedPasskey>;

export const listPasskeys = (deps: Service) => async (caller: Caller) => {
  const { id } = await liveUser(deps, caller);
  return (await passkeysOf(deps.records, id)).map(listedPasskey);
};

export const renamePasskey = (deps: Service) => (caller: Caller, id: string, name: string) =>
  deps.transactions.run(async (stores) => {
    const { id: userId } = await lockedFactorOwner(deps, stores, caller);
    const renamed = await changeRow(stores.records, 'passkeys', { id, userId }, (row) => ({ ...row, name }));
    if (renamed === null) throw noSuchPasskey();
    return listedPasskey(renamed);
  });

/** The passkeys that the user still has, so that the browser can hide all others. */
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
