import { onClick, showError } from './actions.ts';
import type { AccountEvent, AccountEvents, AuthClient, EventKind } from './client.js';
import type { createAccountClient } from './client-account.js';
import { byId } from './dom.ts';
import { timeText } from './time.ts';
import { itemOf, ofSameUser, type UserList } from './user-list.ts';

const PAGE = 20;

/** What happened to the account, a page at a time. @returns functions that load it if it is unfolded, and empty it. */
export const showHistory = (auth: AuthClient, { events }: ReturnType<typeof createAccountClient>): UserList => {
  const [shown, more] = [byId('events'), byId('more-events')];
  let next: string | null = null;
  const show = (page: AccountEvents): void => {
    next = page.next;
    more.hidden = next === null;
    shown.append(...page.events.map(eventItem));
  };
  const clear = (): void => {
    shown.replaceChildren();
    more.hidden = true;
  };
  const load = (before: string | null): Promise<void> =>
    ofSameUser(auth, events({ limit: PAGE, ...(before !== null && { before }) }), (page) => {
      if (before === null) clear();
      show(page);
    });
  const first = (): Promise<void> => load(null);
  onClick(more, () => load(next));
  onClick(byId('list-events'), first);
  const firstIfSeen = async (): Promise<void> => {
    if (shown.checkVisibility()) await first();
  };
  byId('history').addEventListener('toggle', () => void firstIfSeen().catch(showError));
  return { list: firstIfSeen, clear };
};

/** Kinds whose name does not say what happened. */
const MEANINGS: Partial<Record<EventKind, string>> = {
  'device-unproven': 'a refresh without a proof of the device was refused',
  'device-bound': 'a session got the key of its device',
  'passkey-copy-suspected': 'the counter of a passkey went back: there may be a copy of it',
  'stepped-up': 'the user of a session has authenticated again',
};

const eventItem = ({
  kind,
  reason,
  count,
  at,
  deviceName,
  userAgent,
  address,
  requestId,
  actor,
}: AccountEvent): HTMLLIElement => {
  const by = actor === null ? '' : `by an ${actor}`;
  const why = reason ?? MEANINGS[kind];
  const what = [kind, why === undefined ? '' : `(${why})`, count > 1 ? `× ${count}` : '', by].filter(Boolean).join(' ');
  const where = [timeText(at), address ?? 'no network', requestId ?? 'no request'].join(', ');
  return itemOf(what, [where, deviceName ?? userAgent ?? 'no device']);
};
