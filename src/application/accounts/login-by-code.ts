import { needsSecondFactor } from '../../domain/assurance.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { LOGIN_CODE_SPACING } from '../../domain/login-code.ts';
import { canonicalAccount } from '../../domain/user.ts';
import { askForCode, type BrowserCode, guessCode, sealCodes, unsealCodes } from '../login/asked-code.ts';
import { assertMayLogIn, loginClient, openLogin } from '../login/open-login.ts';
import { type LoginResult, newPendingLogin } from '../login/pending-login.ts';
import { invalidCode, useCodes } from '../login-code.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { findRememberedDevice } from '../sessions/end-sessions.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { proveAddress } from './ways.ts';

type CodeRequest = {
  readonly account: string;
  /** The texts of requested codes (`sealCodes`) that the browser presents. */
  readonly asked?: readonly string[];
  readonly origin?: Origin;
};

/** Requests a code in place of the password. A browser that asks again for the same account within a minute keeps its code. */
export const requestLoginCode =
  (deps: Service) =>
  async ({ account: typed, asked = [], origin = NO_ORIGIN }: CodeRequest): Promise<string> => {
    const [account, now] = [canonicalAccount(typed), deps.clock.now()];
    const before = unsealCodes(deps, asked, 'login-code');
    const isOnItsWay = (code: BrowserCode) => code.account === account && now - code.askedAt < LOGIN_CODE_SPACING;
    if (before?.some(isOnItsWay)) return sealCodes(deps, before, 'login-code');
    return askForCode(deps, { kind: 'login-code', account, origin, before });
  };

type CodeLogin = ClientContext & Required<Pick<CodeRequest, 'asked'>> & { readonly code: string };

/** Opens a session by a code from a mail, or a pending log-in if a second factor is missing. The code proves the address. */
export const logInWithCode =
  (deps: Service) =>
  async (input: CodeLogin, cancellation = NEVER_CANCELLED): Promise<LoginResult> => {
    const { locales = [], rememberedDevices = [] } = input;
    const client = await loginClient(deps, input);
    const { origin, verified } = client;
    const asked = unsealCodes(deps, input.asked, 'login-code');
    if (asked === null) throw invalidCode('the browser has asked for no code, or it has expired');
    const { code, owner } = await guessCode(deps, asked, input.code, origin);
    const now = deps.clock.now();
    const user = { ...owner, emailVerifiedAt: owner.emailVerifiedAt ?? now };
    const devices = owner.emailVerifiedAt === null ? [] : rememberedDevices;
    const rememberedDeviceId = await findRememberedDevice(deps, user, devices);
    const authentications = [{ method: 'mail-code', at: now }] as const;
    const login = { user, authentications, cancellation };
    return openLogin(deps, client, login, async (stores, store): Promise<LoginResult> => {
      const locked = await stores.users.lock(user.id);
      if (locked?.email !== user.email || locked.passwordChangedAt !== user.passwordChangedAt)
        throw invalidCode('the user was deleted, or has another address or password');
      await useCodes(stores, asked, code);
      const current = await proveAddress(deps, stores, locked, { verified, locales, origin });
      assertMayLogIn(deps, current);
      if (needsSecondFactor(deps, current) && rememberedDeviceId === null)
        return { pendingLogin: newPendingLogin(deps, current, 'mail-code') };
      return store(current, { rememberedDeviceId });
    });
  };
