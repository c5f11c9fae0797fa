import type { Page } from 'playwright-core';

type Question = {
  readonly method?: 'GET' | 'POST';
  readonly json?: object;
  readonly headers?: Readonly<Record<string, string>>;
};

/** What a script can read of an answer. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly code?: string;
    readonly data: { readonly accessToken: string; readonly user: { readonly id: string }; readonly id: string };
  };
};

/**
 * Asks the service from a script of the page that the tab shows, by `fetch` and with cookies.
 * @throws Error when the browser gives the script nothing to read.
 */
export const ask = (tab: Page, url: string, { method = 'GET', json, headers = {} }: Question = {}): Promise<Answer> => {
  const init = {
    method,
    credentials: 'include' as const,
    headers: { ...headers, ...(json !== undefined && { 'Content-Type': 'application/json' }) },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  };
  return tab.evaluate(
    async ([address, given]) => {
      const answer = await fetch(address, given);
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: (await answer.json()) as Answer['body'],
      };
    },
    [url, init] as const,
  );
};
