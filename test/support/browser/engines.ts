import { onTestFinished } from 'vitest';
import { canBrowse, openBrowser } from './chromium.ts';
import { hasFirefox, openFirefox } from './firefox.ts';
import { hasWebkit, openWebkit } from './webkit.ts';

/** A window of any engine, with the functions that all engines have. */
export type Window = {
  readonly open: (url: string) => Promise<void>;
  /** Evaluates an expression in the page, and awaits its value. Rejects if the page is left meanwhile. */
  readonly run: (expression: string) => Promise<unknown>;
};

const openPage = async (engine: 'chromium' | 'firefox'): Promise<Window> => {
  const context = engine === 'chromium' ? (await openBrowser()).browser : await openFirefox({});
  onTestFinished(() => context.close());
  const page = await context.newPage();
  return { open: async (url) => void (await page.goto(url)), run: (expression) => page.evaluate(expression) };
};

/** The engines that are installed. */
export const ENGINES = [
  ...(canBrowse() ? (['chromium'] as const) : []),
  ...(hasFirefox() ? (['firefox'] as const) : []),
  ...(hasWebkit() ? (['webkit'] as const) : []),
];

/** Opens a window without cookies, until the end of the test. */
export const openWindow = async (engine: (typeof ENGINES)[number]): Promise<Window> => {
  if (engine !== 'webkit') return openPage(engine);
  const window = await openWebkit();
  onTestFinished(window.close);
  return window;
};
