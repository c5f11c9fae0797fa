import { onClick, showError } from './actions.ts';
import { type AuthClient, type Change, createAuthClient, type User } from './client.js';
import { byId, say } from './dom.ts';
import { watchedFetch } from './exchange.ts';
import { showRequests } from './log.ts';
import { showSessions } from './sessions.ts';
import { showState } from './state.ts';
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
const auth: AuthClient = createAuthClient({ baseUrl, fetch: send });
const showToken = showTokens(Number(document.querySelector<HTMLMetaElement>('meta[name=refresh-lifetime]')?.content));
const sessions = showSessions(auth);

const show = (user: User | null): void => {
  showState(user ? 'in' : 'out');
  byId('who').textContent = user ? `${user.username}, ${user.email}` : 'Nobody is logged in.';
};

/** Whose sessions are listed. */
let listed: string | null = null;

/** For each log-in, renewal and log-out, in this tab or another. */
const follow = async (user: User | null, why: Change): Promise<void> => {
  // Nobody sees what belongs to the user before.
  if (listed !== user?.id) sessions.clear();
  show(user);
  say(SAID[why], why === 'ended' ? 'bad' : '');
  const token = user && (await auth.accessToken());
  if (token) showToken(token);
  const isListed = why !== 'login' && listed === user?.id;
  listed = user?.id ?? null;
  if (token && !isListed) await sessions.list();
};
auth.onChange((user, why) => void follow(user, why).catch(showError));
auth.ready.then(show, (error: unknown) => {
  show(null);
  showError(error);
});

byId<HTMLAnchorElement>('settings').href = auth.linkTo('account');
onClick(byId('login'), async () => auth.logInAt());
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
