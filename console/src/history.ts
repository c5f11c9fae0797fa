import { onClick, showError } from './actions.ts';
import type { AccountEvent } from './client.js';
import type { createAccountClient } from './client-account.js';
import { byId, make } from './dom.ts';
import { timeText } from './time.ts';

const PAGE = 20;

/** What happened to the account, a page at a time, when it is unfolded. @returns a function that loads it again if it is. */
export const showHistory = ({ events }: ReturnType<typeof createAccountClient>): (() => Promise<void>) => {
  let next: string | null = null;
  const load = async (before: string | null): Promise<readonly HTMLLIElement[]> => {
    const page = await events({ limit: PAGE, ...(before !== null && { before }) });
    next = page.next;
    byId('more-events').hidden = next === null;
    return page.events.map(itemOf);
  };
  onClick(byId('more-events'), async () => {
    byId('events').append(...(await load(next)));
  });
  const first = async (): Promise<void> => byId('events').replaceChildren(...(await load(null)));
  onClick(byId('list-events'), first);
  const firstIfSeen = async (): Promise<void> => {
    if (byId('events').checkVisibility()) await first();
  };
  byId('history').addEventListener('toggle', () => void firstIfSeen().catch(showError));
  return firstIfSeen;
};

const itemOf = ({ kind, reason, count, at, userAgent, address, requestId }: AccountEvent): HTMLLIElement => {
  const what = [kind, reason === null ? '' : `(${reason})`, count > 1 ? `× ${count}` : ''].filter(Boolean).join(' ');
  const where = [timeText(at), address ?? 'no network', requestId ?? 'no request'].join(', ');
  const notes = [where, userAgent ?? 'no device'].map((text) => make('p', { className: 'note' }, text));
  return make('li', {}, make('div', {}, make('p', {}, what), ...notes));
};
