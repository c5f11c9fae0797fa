import { needsSecondFactor } from '../../domain/assurance.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { LOGIN_CODE_SPACING } from '../../domain/login-code.ts';
import { newMessage } from '../../domain/message.ts';
import { canonicalAccount, isAccountName } from '../../domain/user.ts';
import { guess } from '../login/guess-code.ts';
import { type LoginResult, newPendingLogin } from '../login/pending-login.ts';
import { assertMayLogIn, storeLogin } from '../login/store-login.ts';
import { type BrowserCode, invalidCode, seal, unseal, useCodes } from '../login-code.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { rememberedDeviceId as rememberedDevice } from '../sessions/end-sessions.ts';
import { prepareSession } from '../sessions/open-session.ts';
import { type ClientContext, NOTHING_PRESENTED, provenKeys } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import { addMessages } from '../storage/outbox.ts';
import { proveAddress } from './ways.ts';

type CodeRequest = {
  readonly account: string;
  /** As the browser presents them. */
  readonly asked?: readonly string[];
  readonly origin?: Origin;
};

/**
 * Requests a mail with a code. Whether there is such an account is looked up only when the mail is written, so that the response time is the
 * same for every account. A browser that asks again after a moment keeps the code that is on its way.
 * @returns a text for the cookie of the browser, which `logInWithCode` needs.
 */
export const requestLoginCode =
  (deps: Service) =>
  async ({ account: typed, asked = [], origin = NO_ORIGIN }: CodeRequest): Promise<string> => {
    const [account, now] = [canonicalAccount(typed), deps.clock.now()];
    const last = unseal(deps, asked);
    const isOnItsWay = (code: BrowserCode) => code.account === account && now - code.askedAt < LOGIN_CODE_SPACING;
    if (last?.codes.some(isOnItsWay)) return seal(deps, last);
    const code = { id: deps.ids.next(), askedAt: now, account };
    const message = newMessage(
      { kind: 'login-code-request', userId: null, to: account },
      { id: code.id, at: now, origin },
    );
    if (isAccountName(account)) await addMessages(deps, [message]);
    return seal(deps, { codes: [code, ...(last?.codes ?? [])] });
  };

type CodeLogin = ClientContext & {
  readonly code: string;
  /** As the browser presents them. */
  readonly asked: readonly string[];
};

/**
 * Opens a session for a user who has got a code by mail, or a pending log-in if the user needs a second factor, as a password does. The code
 * proves the address. An account that does not exist takes as long as one with another code.
 */
export const logInWithCode =
  (deps: Service) =>
  async (input: CodeLogin, cancellation = NEVER_CANCELLED): Promise<LoginResult> => {
    const { origin = NO_ORIGIN, presented = NOTHING_PRESENTED, refreshTokens = [], locales = [] } = input;
    const keys = await provenKeys(deps, presented);
    const verified = await verifiedTokens(deps, refreshTokens);
    const asked = unseal(deps, input.asked);
    if (asked === null) throw invalidCode('the browser has asked for no code, or it has expired');
    const guessed = await guess(deps, asked, input.code, origin);
    const { owner } = guessed;
    const now = deps.clock.now();
    const user = { ...owner, emailVerifiedAt: owner.emailVerifiedAt ?? now };
    assertMayLogIn(deps, user);
    const devices = owner.emailVerifiedAt === null ? [] : (input.rememberedDevices ?? []);
    const rememberedDeviceId = await rememberedDevice(deps, user, devices);
    const authentications = [{ method: 'mail-code', at: now }] as const;
    const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
    cancellation.throwIfAborted();
    return deps.transactions.run(async (stores): Promise<LoginResult> => {
      const locked = await stores.users.lock(user.id);
      if (locked?.email !== user.email || locked.passwordChangedAt !== user.passwordChangedAt)
        throw invalidCode('the user was deleted, or has another address or password');
      await useCodes(stores, asked, guessed.code);
      const current = await proveAddress(deps, stores, locked, { verified, locales, origin });
      assertMayLogIn(deps, current);
      if (needsSecondFactor(deps, current) && rememberedDeviceId === null)
        return { pendingLogin: newPendingLogin(deps, current, 'mail-code') };
      await storeLogin(deps, stores, { user: current, session, verified, origin, rememberedDeviceId });
      return opened;
    });
  };
