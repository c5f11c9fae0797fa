import { showAccount } from './account.ts';
import { onClick, onSubmit, showError } from './actions.ts';
import { type Change, createAuthClient, type User } from './client.js';
import { createAccountClient } from './client-account.js';
import { byId, say } from './dom.ts';
import { watchedFetch } from './exchange.ts';
import { showHistory } from './history.ts';
import { showRequests } from './log.ts';
import { showOffers } from './offers.ts';
import { showSessions } from './sessions.ts';
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
const send = watchedFetch(showRequests());
const auth = createAuthClient({ baseUrl, fetch: send });
const showToken = showTokens(Number(document.querySelector<HTMLMetaElement>('meta[name=refresh-lifetime]')?.content));
const sessions = showSessions(auth);
const account = createAccountClient({ baseUrl, fetch: auth.fetch });
const history = showHistory(auth, account);
showAccount(auth, account);
showOffers();

/** Shows what fits, and moves the focus if its place is hidden now. */
const show = (user: User | null): void => {
  const state = user ? 'in' : 'out';
  const place = document.activeElement?.closest<HTMLElement>('[data-show]')?.dataset.show;
  for (const part of document.querySelectorAll<HTMLElement>('[data-show]')) part.hidden = part.dataset.show !== state;
  byId('who').textContent = user ? `${user.username}, ${user.email}` : 'Nobody is logged in.';
  byId<HTMLInputElement>('password-account').value = user?.username ?? '';
  if (place && place !== state) byId(user ? 'tokens-title' : 'login-title').focus();
};

/** Whose sessions are listed. */
let listed: string | null = null;

/** For each log-in, renewal and log-out, in this tab or another. */
const follow = async (user: User | null, why: Change): Promise<void> => {
  // Nobody sees what belongs to the user before.
  if (listed !== user?.id) for (const list of [sessions, history]) list.clear();
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

onSubmit('login', ({ account = '', password = '' }) => auth.login({ account, password }));
onSubmit('register', async ({ username = '', email = '', password = '' }) => {
  const user = await auth.register({ username, email, password });
  if (user === null) say('Open the link in the email, then log in.');
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
