import type { Page } from 'playwright-core';

type Question = {
  readonly method?: 'GET' | 'POST';
  readonly json?: object;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The parts of a response that a script can read. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly code?: string;
    readonly data: { readonly accessToken: string; readonly user: { readonly id: string }; readonly id: string };
  };
};

/**
 * Sends a request to the service by `fetch` with cookies, from a script of the page in the tab.
 * @throws Error if the browser does not let the script read the response
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
      // The cast: `json` returns `unknown`, and every response of the service has this form.
      const body = (await answer.json()) as Answer['body'];
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body };
    },
    [url, init] as const,
  );
};
