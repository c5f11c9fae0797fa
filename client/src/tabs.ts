import { browser } from './host.ts';
import type { Binding, Change } from './types.ts';

/** The message of a tab to the others: a token and the time of its arrival, or no token after a log-out. Only pages of the same origin get it. */
export type News = {
  readonly value: string | undefined;
  readonly at: number | undefined;
  /** The binding of the session. A tab with another version of the client may not send it. */
  readonly binding?: Binding | undefined;
  readonly why: Change;
};

/**
 * What tabs know of each other: a generation, which each log-in, renewal and log-out raises. It is stored as the hint whether there may be a session:
 * negative if there is none. The client does not depend on either: storage may be blocked, and messages may be lost.
 */
export const tabs = (base: string, onNews: (news: News) => void) => {
  const host = browser();
  const name = `tandem:${base}`;
  let channel: BroadcastChannel | undefined;
  let ownGeneration = 0;
  let hint = Number(!!host);

  /** Returns the hint, after storing a new value if one is given. If nothing can be stored, this page remembers the value. */
  const syncHint = (value?: number): number => {
    hint = value ?? hint;
    try {
      const { localStorage } = host as NonNullable<typeof host>;
      if (value) localStorage[name] = value;
      hint = Number(localStorage[name]) || 0;
    } catch {
      // The storage is blocked or full, or this is no browser.
    }
    return hint;
  };
  const generation = (): number => Math.max(ownGeneration, syncHint(), -syncHint());

  const onMessage = ({ data }: { readonly data: News & { readonly own: number } }): void => {
    // Of two messages of one generation, the log-out counts.
    if (!(data.own >= ownGeneration + (data.value ? 1 : 0))) return;
    onNews(data);
    ownGeneration = data.own;
  };

  return {
    generation,
    hint: syncHint,
    /** Whether a message of another tab did not arrive: pages in the back/forward cache get no messages. */
    missed: (): boolean => generation() > ownGeneration,
    announce: (news: News): void => {
      ownGeneration = generation() + 1;
      syncHint(news.value ? ownGeneration : -ownGeneration);
      channel?.postMessage({ ...news, own: ownGeneration });
    },
    /** An open channel would keep the page out of the back/forward cache. */
    close: (): void => {
      channel?.close();
      channel = undefined;
    },
    open: (): void => {
      if (!host || channel) return;
      try {
        channel = new BroadcastChannel(name);
        channel.onmessage = onMessage;
      } catch {
        // Firefox blocks channels together with cookies.
      }
    },
  };
};
