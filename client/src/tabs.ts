import { browser } from './host.ts';
import type { Change } from './types.ts';

/** What a tab tells the others: a token and the time of its arrival, or no token after a log-out. Only pages of the same origin hear it. */
export type News = { readonly value?: string; readonly at?: number; readonly why: Change };

type Place = { readonly baseUrl: string; readonly hasCookie: boolean };

/**
 * What tabs know of each other: a generation that each log-in, renewal and log-out raises. It is stored as the hint that there may be a
 * session, negative if there is none. None of it is needed for correctness: storage may be blocked, and messages may be late or lost.
 */
export const tabs = ({ baseUrl, hasCookie }: Place, hear: (news: News) => void) => {
  const host = browser();
  const name = `tandem:${baseUrl}`;
  let channel: BroadcastChannel | undefined;
  let own = 0;
  let hint = Number(hasCookie);

  /** The hint, after it has been changed if a value is given. Where nothing can be stored, this page remembers it. */
  const stored = (value?: number): number => {
    hint = value ?? hint;
    try {
      const { localStorage } = host as NonNullable<typeof host>;
      if (value) localStorage.setItem(name, value);
      hint = Number(localStorage.getItem(name)) || 0;
    } catch {
      // Blocked, full, or not a browser.
    }
    return hint;
  };
  const generation = (): number => Math.max(own, Math.abs(stored()));

  const heard = ({ data }: { readonly data: News & { readonly own: number } }): void => {
    // Of two of one generation, the log-out counts.
    if (data.own < own || (data.own === own && data.value)) return;
    own = data.own;
    hear(data);
  };

  return {
    generation,
    /** Whether there may be a session. */
    hinted: (): boolean => stored() > 0,
    /** Whether a tab has logged out since that generation. */
    isOut: (since: number): boolean => -stored() > since,
    forget: () => stored(-generation()),
    tell: (news: News): void => {
      own = generation() + 1;
      stored(news.value ? own : -own);
      channel?.postMessage({ ...news, own });
    },
    /** An open channel would keep the page out of the back/forward cache, or out of date in it. */
    close: (): void => {
      channel?.close();
      channel = undefined;
    },
    open: (): void => {
      if (!host || channel) return;
      try {
        channel = new BroadcastChannel(name);
        channel.onmessage = heard;
      } catch {
        // Firefox blocks it together with cookies.
      }
    },
  };
};
