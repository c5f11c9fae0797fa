import type { ChildProcess } from 'node:child_process';
import { type Browser, type BrowserContext, type BrowserContextOptions, firefox } from 'playwright-core';
import { inject } from 'vitest';
import '../servers/provided.ts';
import { endWithUs, keep } from '../servers/keeper.ts';
import { serverDirectory } from '../servers/unprivileged.ts';
import { libraryPath } from './program.ts';

/** Whether a Firefox is available; in CI it always is. */
export const hasFirefox = (): boolean => (inject('firefox') ?? null) !== null;

/** What Playwright calls by itself and an extended support release does not know yet: the emulation of colour schemes. */
const UNKNOWN = 'emulation.setMediaFeaturesOverride';

type Session = { send: (method: string, ...rest: unknown[]) => Promise<unknown> };
/** Inside of Playwright, which has no setting for either. */
type Running = {
  readonly _browserSession: Session;
  readonly options: { readonly browserProcess: { readonly process: ChildProcess } };
};
type Inside = { readonly _connection: { toImpl(browser: Browser): Running } };

let running: Promise<Browser> | null = null;

/** As long as the polls of vitest: only catches hangs. */
const PATIENCE = 60_000;

/** Opens a window without cookies, in a Firefox that the test files of this process share. It ends with the process. */
export const openFirefox = async (options: BrowserContextOptions): Promise<BrowserContext> => {
  running ??= launch();
  const context = await (await running).newContext(options);
  context.setDefaultTimeout(PATIENCE);
  return context;
};

const launch = async (): Promise<Browser> => {
  const program = inject('firefox');
  if (!program) throw new Error('there is no Firefox here: see hasFirefox');
  const home = serverDirectory('firefox', {});
  keep(home);
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: program.command,
    env: { ...libraryPath(program), HOME: home },
    // No network but the hosts of the tests.
    firefoxUserPrefs: { 'network.dns.disabled': true },
  });
  const { _browserSession: session, options } = (browser as unknown as Inside)._connection.toImpl(browser);
  // Unlike Chromium, it does not notice the end of the process that has started it.
  endWithUs(options.browserProcess.process);
  const send = session.send.bind(session);
  session.send = (method, ...rest) => (method === UNKNOWN ? Promise.resolve({}) : send(method, ...rest));
  return browser;
};
