import type { Check } from '../check.ts';
import type { Reply } from '../client.ts';
import { asCookie } from '../cookies.ts';
import { dataOf, errorOf, expectText, hold, isObject, membersOf } from '../expectations.ts';
import { Mismatch } from '../outcome.ts';
import { asBearer, ifOffered, tokensOf, type World } from '../world.ts';

const ACCOUNTS = [
  '0010',
  'Links in mail reset passwords, verify and change addresses, and give accounts back',
] as const;
const EVENTS = [
  '0011',
  'What happens to accounts is stored as events, logged after the commit, and reported by mail where it matters',
] as const;

type Members = Readonly<Record<string, unknown>>;
type Page = { readonly events: readonly Members[]; readonly next: string | null };

const PAGE_SIZE = 2;
const MOST_PAGES = 60;

const pageOf = (reply: Reply): Page => {
  const { events, next } = membersOf(reply);
  hold(Array.isArray(events) && events.every(isObject), 'events as a list of objects', events);
  hold(next === null || typeof next === 'string', 'next as a string or null', next);
  return { events, next };
};

const idsIn = ({ events }: Page): string[] => events.map(({ id }) => expectText(id, 'the id of an event'));

/** The ids of all events, read in small pages. */
const pagedIds = async (read: (query: string) => Promise<Reply>): Promise<string[]> => {
  const ids: string[] = [];
  let before = '';
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = pageOf(await read(`?limit=${PAGE_SIZE}${before}`));
    hold(page.events.length <= PAGE_SIZE, `at most ${PAGE_SIZE} events with limit=${PAGE_SIZE}`, page.events.length);
    ids.push(...idsIn(page));
    if (page.next === null) return ids;
    before = `&before=${page.next}`;
  }
  throw new Mismatch(`an end of the events within ${MOST_PAGES} pages`, 'always another page');
};

const changeUsername = async ({ registered, secondRegistered, send, login, person, second }: World): Promise<void> => {
  dataOf(await registered());
  const headers = asBearer(tokensOf(await secondRegistered()).access);
  const change = (username: string) => send({ method: 'PUT', path: '/users/me/username', headers, body: { username } });
  const username = `${second.username}c`;
  const changed = membersOf(ifOffered(await change(username)));
  hold(changed.username === username, `the username ${username}`, changed.username);
  tokensOf(await login(username, second.password));
  errorOf(await login(second.username, second.password), 401, 'AUTH_CREDENTIALS_INVALID');
  errorOf(await change(person.username), 409, 'AUTH_USER_DUPLICATE');
};

const listEvents = async ({ secondRegistered, send, login, second }: World): Promise<void> => {
  const headers = asBearer(tokensOf(await secondRegistered()).access);
  const read = (query: string) => send({ method: 'GET', path: `/users/me/events${query}`, headers });
  ifOffered(await read(''));
  const { refresh } = tokensOf(await login(second.email, second.password));
  dataOf(await send({ method: 'GET', path: '/auth/clear-cookie', headers: asCookie(refresh) }));
  const whole = pageOf(await read('?limit=100'));
  const ended = whole.events.find(({ kind }) => kind === 'session-ended');
  hold(ended?.reason === 'logout', 'an event session-ended with the reason logout', ended);
  const paged = await pagedIds(read);
  hold(new Set(paged).size === paged.length, 'no event on two pages', paged);
  // An event may be added between two requests, so there may be more on the pages.
  const missing = idsIn(whole).filter((id) => !paged.includes(id));
  hold(missing.length === 0, 'every event on one of the pages', `without ${missing.join(', ')}`);
};

const exportAccount = async ({ secondRegistered, send, second }: World): Promise<void> => {
  const { access, refresh } = tokensOf(await secondRegistered());
  const reply = ifOffered(await send({ method: 'GET', path: '/users/me/export', headers: asBearer(access) }));
  const { user, sessions } = membersOf(reply);
  hold(isObject(user) && user.email === second.email, `the user ${second.email}`, user);
  hold(Array.isArray(sessions) && sessions.length > 0, 'the sessions of the user', sessions);
  hold(!/password_?hash|token_?hash|\$2[aby]\$\d\d\$/i.test(reply.text), 'no hash', 'a hash');
  const secrets = [second.password, access, refresh];
  hold(!secrets.some((secret) => reply.text.includes(secret)), 'no password and no token', 'one of them');
};

const deleteAccount = async ({ secondRegistered, send, refresh, second }: World): Promise<void> => {
  const tokens = tokensOf(await secondRegistered());
  const me = () => send({ method: 'GET', path: '/users/me', headers: asBearer(tokens.access) });
  const remove = (access: string, password: string) =>
    send({ method: 'DELETE', path: '/users/me', headers: asBearer(access), body: { password } });
  errorOf(ifOffered(await remove(tokens.access, `${second.password}x`)), 401, 'AUTH_CREDENTIALS_INVALID');
  const username = expectText(membersOf(await me()).username, 'username');
  dataOf(await remove(tokens.access, second.password));
  errorOf(await refresh(tokens.refresh), 401, 'AUTH_FAILED');
  const gone = await me();
  if (gone.status === 401) errorOf(gone, 401, 'AUTH_TOKEN_INVALID');
  else errorOf(gone, 404, 'DB_RECORD_NOT_FOUND');
  const again = await send({ method: 'POST', path: '/auth/register', body: { ...second, username } });
  dataOf(await remove(tokensOf(again).access, second.password));
};

/** Changes of an account, on one that the last check deletes. */
export const accountLife: readonly Check[] = [
  {
    id: 'username-change',
    source: ACCOUNTS,
    title: 'a new username logs in and the former one does not; a taken one answers 409 AUTH_USER_DUPLICATE',
    run: changeUsername,
  },
  {
    id: 'account-events',
    source: EVENTS,
    title: 'the events say that a session ended by log-out, and are read page by page',
    run: listEvents,
  },
  {
    id: 'account-export',
    source: ACCOUNTS,
    title: 'the export has the user and the sessions, and no hash, password or token',
    run: exportAccount,
  },
  {
    id: 'account-deletion',
    source: ACCOUNTS,
    title: 'deleting needs the password, ends the session, and frees username and email',
    run: deleteAccount,
  },
];
