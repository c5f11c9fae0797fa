import { onClick } from './actions.ts';
import type { AuthClient, Binding, SessionInfo } from './client.js';
import { byId, make, say } from './dom.ts';
import { timeText } from './time.ts';
import { itemOf, ofSameUser, type UserList } from './user-list.ts';

const BOUND: Readonly<Record<Binding, string>> = {
  none: 'not bound to a device',
  device: 'bound to a key of a page on its device',
  browser: 'bound to a key of its browser',
};

/** The list of sessions. @returns functions that load and empty it. */
export const showSessions = (auth: AuthClient): UserList => {
  const { sessions } = auth;
  const show = (...items: readonly HTMLLIElement[]): void => byId('sessions').replaceChildren(...items);
  const list = (): Promise<void> => ofSameUser(auth, sessions.list(), (found) => show(...found.map(sessionItem)));
  /** The button that was clicked goes away with its session. */
  const afterwards = async (text: string): Promise<void> => {
    await list();
    byId('sessions-title').focus();
    say(text);
  };

  const sessionItem = (session: SessionInfo): HTMLLIElement => {
    const { id, name, userAgent, address, createdAt, lastUsedAt, binding, current, remembered } = session;
    const device = name ?? userAgent ?? 'unknown program';
    const ariaLabel = remembered
      ? `Forget the device ${device}, remembered ${timeText(createdAt)}`
      : `End the session of ${device}, opened ${timeText(createdAt)}`;
    const end = make('button', { type: 'button', ariaLabel }, remembered ? 'Forget' : 'End');
    end.dataset.sends = `DELETE /auth/sessions/${id}`;
    onClick(end, async () => {
      await sessions.end(id);
      await afterwards(remembered ? 'The device is forgotten.' : 'The session has ended.');
    });
    const since = remembered ? 'since' : 'opened';
    const times = `${address ?? 'unknown network'}, ${since} ${timeText(createdAt)}, last used ${timeText(lastUsedAt)}`;
    const notes = [times, remembered ? 'remembered device: it is asked for the password alone' : BOUND[binding]];
    const item = itemOf(device, notes, current ? make('span', { className: 'good' }, 'This session') : end);
    item.title = userAgent ?? '';
    return item;
  };

  onClick(byId('list-sessions'), list);
  onClick(byId('end-others'), async () => {
    await sessions.endOthers();
    await afterwards('All other sessions have ended.');
  });
  return { list, clear: show };
};
