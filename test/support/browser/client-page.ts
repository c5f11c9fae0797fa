import type { Frame, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { AuthClient } from '../../../client/src/index.ts';
import { readText } from '../checkout/repository.ts';
import { aPerson } from '../http/service.ts';

/** What the pages below offer to tests. */
type ClientPage = {
  readonly auth: AuthClient;
  /** `why` of each change. */
  readonly changes: string[];
  /** Lets the clock of the page go on as after a sleep, so that a renewal is due. */
  readonly wake: (milliseconds: number) => void;
};
declare global {
  var page: ClientPage | undefined;
}

const HOUR = 3_600_000;

type Setup = {
  readonly withoutChannel?: boolean;
  /** Milliseconds by which the clock of the machine is wrong. */
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
export const importing = (service: string, setup: Setup = {}): string =>
  `<script>${setUp(setup)}</script>
  <script type="module">import { createAuthClient } from '${service}/client.js'; ${start(service, setup.origins)}</script>`;

/** A page with the client in it, for origins that may not import it. */
export const including = (service: string): string => {
  const module = readText('client/dist/client.js').replace(
    /export\{(\w+) as AuthError,(\w+) as (createAuthClient)\}/,
    'const $3=$2',
  );
  return `<script type="module">${setUp({})} ${module}; ${start(service)}</script>`;
};

/** Waits until the client has started, and for the first attempt to restore a session. @returns the username. */
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

/** The same, without waiting for the token. */
export const beginRenewalIn = (tab: Page): Promise<void> =>
  tab.evaluate((sleep) => {
    globalThis.page?.wake(sleep);
    globalThis.page?.auth.accessToken().catch(() => undefined);
  }, HOUR);

/**
 * Renews twice, without waiting. The first one may be that which was under way when the page entered the back/forward cache; the second one
 * sends a request.
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

/** Renews twice, and waits. Afterwards no renewal is under way. @returns the username. */
export const renewedIn = (tab: Page): Promise<string | undefined> =>
  tab
    .waitForFunction(() => globalThis.page)
    .then(() =>
      tab.evaluate(async () => {
        await globalThis.page?.auth.refresh();
        return (await globalThis.page?.auth.refresh())?.username;
      }),
    );

/** Renews now. @returns the username, or the message of the error. */
export const refreshIn = (tab: Page): Promise<string | undefined> =>
  tab.evaluate(() =>
    globalThis.page?.auth.refresh().then(
      (user) => user?.username,
      (error: Error) => error.message,
    ),
  );

/** Somebody registers. */
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

/** With what a log-in is rejected. */
export const loginErrorIn = (tab: Page | Frame, credentials: { account: string; password: string }) =>
  tab.evaluate(
    (given) =>
      globalThis.page?.auth.login(given).then(
        () => null,
        ({ code, message, retryable }: Failure) => ({ code, message, retryable }),
      ),
    credentials,
  );

/** With what a request of the client is rejected. */
export const fetchErrorIn = (tab: Page, url: string, method = 'GET', headers: Record<string, string> = {}) =>
  tab.evaluate(
    ([address, init]) =>
      globalThis.page?.auth.fetch(address, init).then(
        () => null,
        ({ code, message, retryable }: Failure) => ({ code, message, retryable }),
      ),
    [url, { method, headers }] as const,
  );
