import type { ChildProcess } from 'node:child_process';
import { type Browser, type BrowserContext, type BrowserContextOptions, firefox } from 'playwright-core';
import { inject } from 'vitest';
import '../servers/provided.ts';
import { killAtExit, removeAtExit } from '../servers/keeper.ts';
import { serverDirectory } from '../servers/unprivileged.ts';
import { libraryPath } from './program.ts';

/** Whether Firefox is available, which it always is in CI. */
export const hasFirefox = (): boolean => (inject('firefox') ?? null) !== null;

/** A command that Playwright always sends, to emulate colour schemes, but that the extended support release of Firefox does not know yet. */
const UNKNOWN = 'emulation.setMediaFeaturesOverride';

type Session = { send: (method: string, ...rest: unknown[]) => Promise<unknown> };
/** Private members of Playwright, which has no option for unknown commands or for the process of the browser. */
type Running = {
  readonly _browserSession: Session;
  readonly options: { readonly browserProcess: { readonly process: ChildProcess } };
};
type Inside = { readonly _connection: { toImpl(browser: Browser): Running } };

let running: Promise<Browser> | null = null;

/** Milliseconds, which only catch hangs: as long as the polls of vitest. */
const PATIENCE = 60_000;

/** Opens a window without cookies, in a Firefox that the test files of this process share and that ends with the process. */
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
  removeAtExit(home);
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: program.command,
    env: { ...libraryPath(program), HOME: home },
    // Without DNS, Firefox reaches only the hosts of the tests.
    firefoxUserPrefs: { 'network.dns.disabled': true },
  });
  const { _browserSession: session, options } = (browser as unknown as Inside)._connection.toImpl(browser);
  // Firefox, unlike Chromium, does not notice the end of the process that has started it.
  killAtExit(options.browserProcess.process);
  const send = session.send.bind(session);
  session.send = (method, ...rest) => (method === UNKNOWN ? Promise.resolve({}) : send(method, ...rest));
  return browser;
};
