import { showAccount } from './account.ts';
import { onClick, onSubmit, showError } from './actions.ts';
import { type AuthClient, type Change, createAuthClient, type User } from './client.js';
import { createAccountClient } from './client-account.js';
import { createPasskeyClient } from './client-passkeys.js';
import { byId, say } from './dom.ts';
import { watchedFetch } from './exchange.ts';
import { showFactors } from './factors.ts';
import { showHistory } from './history.ts';
import { showRequests } from './log.ts';
import { showLogIn } from './log-in.ts';
import { showOffers } from './offers.ts';
import { showRecoveryCodes } from './recovery-codes.ts';
import { showSessions } from './sessions.ts';
import { showState } from './state.ts';
import { showStepUp } from './step-up.ts';
import { showTokens } from './tokens.ts';

const SAID: Readonly<Record<Change, string>> = {
  login: 'Logged in.',
  refresh: 'Both tokens are new.',
  logout: 'Logged out.',
  ended: 'The service has refused the session. Log in again.',
};

byId('refused').remove();
byId('who').textContent = 'Looking for a session…';
const baseUrl = new URL('.', import.meta.url).href;
const codes = showRecoveryCodes();
const report = showRequests();
const send = watchedFetch((exchange) => {
  report(exchange);
  codes.of(exchange);
});
const auth: AuthClient = createAuthClient({ baseUrl, fetch: send, onStepUp: (reason) => stepUp.ask(reason) });
const passkeys = createPasskeyClient({ baseUrl, auth });
const stepUp = showStepUp(auth, passkeys);
const showToken = showTokens(Number(document.querySelector<HTMLMetaElement>('meta[name=refresh-lifetime]')?.content));
const sessions = showSessions(auth);
const account = createAccountClient({ baseUrl, fetch: auth.fetch });
const history = showHistory(auth, account);
const factors = showFactors({ auth, passkeys, account });
const logIn = showLogIn({ auth, passkeys, baseUrl });
showAccount(auth, account);
showOffers(passkeys.isAvailable() ? ['passkeys'] : []);

const show = (user: User | null): void => {
  showState(user ? 'in' : 'out');
  byId('who').textContent = user ? `${user.username}, ${user.email}` : 'Nobody is logged in.';
  byId<HTMLInputElement>('password-account').value = user?.username ?? '';
  if (!user) logIn.offerPasskeys();
};

/** Whose sessions are listed. */
let listed: string | null = null;

/** Nobody sees what belongs to the user before. The recovery codes of a log-in come before its user. */
const leave = (): void => {
  stepUp.cancel();
  for (const { clear } of [sessions, history, factors, ...(listed === null ? [] : [codes])]) clear();
};

/** For each log-in, renewal and log-out, in this tab or another. */
const follow = async (user: User | null, why: Change): Promise<void> => {
  if (listed !== user?.id) leave();
  show(user);
  say(SAID[why], why === 'ended' ? 'bad' : '');
  const token = user && (await auth.accessToken());
  if (token) showToken(token);
  const isListed = why !== 'login' && listed === user?.id;
  listed = user?.id ?? null;
  if (token && !isListed) await Promise.all([sessions.list(), history.list()]);
};
auth.onChange((user, why) => void follow(user, why).catch(showError));
auth.ready.then(show, (error: unknown) => {
  show(null);
  showError(error);
});

onSubmit('password', async ({ currentPassword = '', newPassword = '' }) => {
  await auth.changePassword({ currentPassword, newPassword });
  await Promise.all([sessions.list(), history.list()]);
  say('The password is changed, and all other sessions have ended.');
});
onClick(byId('logout'), auth.logout);
onClick(byId('refresh'), auth.refresh);
for (const [id, path] of [
  ['protected', 'users/me'],
  ['optional', 'auth/session'],
] as const)
  onClick(byId(id), async () => {
    const ask = byId<HTMLInputElement>('with-token').checked ? auth.fetch : send;
    const { status } = await ask(baseUrl + path);
    say(`GET /${path}: ${status}`, status < 400 ? '' : 'bad');
  });
