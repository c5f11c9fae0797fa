import type { Frame, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { AuthClient } from '../../../client/src/index.ts';
import { readText } from '../checkout/repository.ts';
import { aPerson } from '../http/service.ts';

/** The global `page`, which the pages below offer to tests. */
type ClientPage = {
  readonly auth: AuthClient;
  /** The reason `why` of each call of `onChange`. */
  readonly changes: string[];
  /** Moves the clock of the page forward, as after a sleep of the machine, so that a renewal is due. */
  readonly wake: (milliseconds: number) => void;
};
declare global {
  var page: ClientPage | undefined;
}

const HOUR = 3_600_000;

type Setup = {
  readonly withoutChannel?: boolean;
  /** Milliseconds by which the clock of the page is ahead. */
  readonly clock?: number;
  readonly origins?: readonly string[];
};

const setUp = ({ withoutChannel = false, clock = 0 }: Setup): string => `
  ${withoutChannel ? 'delete globalThis.BroadcastChannel;' : ''}
  const now = Date.now.bind(Date);
  let ahead = ${clock};
  Date.now = () => now() + ahead;
  globalThis.wake = (milliseconds) => { ahead += milliseconds; };`;

const start = (service: string, origins: readonly string[] = []): string => `
  const auth = createAuthClient({ baseUrl: '${service}', origins: ${JSON.stringify(origins)} });
  const changes = [];
  auth.onChange((_user, why) => changes.push(why));
  globalThis.page = { auth, changes, wake };`;

/** A page that imports the client from the service. */
export const clientPage = (service: string, setup: Setup = {}): string =>
  `<script>${setUp(setup)}</script>
  <script type="module">import { createAuthClient } from '${service}/client.js'; ${start(service, setup.origins)}</script>`;

/** A page that contains the client, for origins that may not import it from the service. */
export const inlinePage = (service: string): string => {
  const module = readText('client/dist/client.js').replace(
    /export\{(\w+) as AuthError,(\w+) as (createAuthClient)\}/,
    'const $3=$2',
  );
  return `<script type="module">${setUp({})} ${module}; ${start(service)}</script>`;
};

/** Waits for the start of the client, and for its first attempt to restore a session. @returns the username */
export const restoredIn = (tab: Page | Frame): Promise<string | undefined> =>
  tab
    .waitForFunction(() => globalThis.page)
    .then(() => tab.evaluate(async () => (await globalThis.page?.auth.ready)?.username));

/** Makes a renewal due. */
export const sleepIn = (tab: Page): Promise<void> => tab.evaluate((sleep) => globalThis.page?.wake(sleep), HOUR);

/** Makes a renewal due, and asks for a token. @returns whether there is one. */
export const renewIn = (tab: Page): Promise<boolean> =>
  tab.evaluate(async (sleep) => {
    globalThis.page?.wake(sleep);
    return typeof (await globalThis.page?.auth.accessToken()) === 'string';
  }, HOUR);

/** Makes a renewal due, and asks for a token without waiting for it. */
export const beginRenewalIn = (tab: Page): Promise<void> =>
  tab.evaluate((sleep) => {
    globalThis.page?.wake(sleep);
    globalThis.page?.auth.accessToken().catch(() => undefined);
  }, HOUR);

/**
 * Begins two renewals. The first may join a renewal that was in progress when the page entered the back/forward cache, so only the second is sure to send
 * a request.
 */
export const beginAnotherRenewalIn = (tab: Page): Promise<void> =>
  tab
    .waitForFunction(() => globalThis.page)
    .then(() =>
      tab.evaluate(() => {
        const refresh = () => globalThis.page?.auth.refresh();
        void refresh()?.then(refresh, refresh);
      }),
    );

/** Renews twice, and waits: afterwards, no renewal is in progress. @returns the username */
export const renewedIn = (tab: Page): Promise<string | undefined> =>
  tab
    .waitForFunction(() => globalThis.page)
    .then(() =>
      tab.evaluate(async () => {
        await globalThis.page?.auth.refresh();
        return (await globalThis.page?.auth.refresh())?.username;
      }),
    );

/** Renews now. @returns the username, or the message of the error */
export const refreshIn = (tab: Page): Promise<string | undefined> =>
  tab.evaluate(() =>
    globalThis.page?.auth.refresh().then(
      (user) => user?.username,
      (error: Error) => error.message,
    ),
  );

/** Registers a new person in a page. */
export const registeredIn = async (tab: Page): Promise<ReturnType<typeof aPerson>> => {
  await restoredIn(tab);
  const person = aPerson();
  const user = await tab.evaluate((input) => globalThis.page?.auth.register(input), person);
  expect(user?.username).toBe(person.username);
  await tab.evaluate(() => globalThis.page?.changes.splice(0));
  return person;
};

export const bindingIn = (tab: Page) => tab.evaluate(() => globalThis.page?.auth.binding);
export const sessionsIn = (tab: Page) => tab.evaluate(() => globalThis.page?.auth.sessions.list());
/** The security events of the user, as JSON. */
export const eventsIn = (tab: Page, service: string): Promise<string | undefined> =>
  tab.evaluate(
    (at) => globalThis.page?.auth.fetch(`${at}/users/me/events`).then((response) => response.text()),
    service,
  );

export const changesIn = (tab: Page): Promise<readonly string[]> => tab.evaluate(() => globalThis.page?.changes ?? []);

type Failure = { readonly code: string; readonly message: string; readonly retryable: boolean };

/** Logs in. @returns the error of the client; `null` after a success */
export const loginErrorIn = (tab: Page | Frame, credentials: { account: string; password: string }) =>
  tab.evaluate(
    (given) =>
      globalThis.page?.auth.login(given).then(
        () => null,
        ({ code, message, retryable }: Failure) => ({ code, message, retryable }),
      ),
    credentials,
  );

/** Sends a request by the client. @returns its error; `null` after a success */
export const fetchErrorIn = (tab: Page, url: string, method = 'GET', headers: Record<string, string> = {}) =>
  tab.evaluate(
    ([address, init]) =>
      globalThis.page?.auth.fetch(address, init).then(
        () => null,
        ({ code, message, retryable }: Failure) => ({ code, message, retryable }),
      ),
    [url, { method, headers }] as const,
  );
