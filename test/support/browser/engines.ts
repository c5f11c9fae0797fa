import { onTestFinished } from 'vitest';
import { canBrowse, openBrowser } from './chromium.ts';
import { hasFirefox, openFirefox } from './firefox.ts';
import { hasWebkit, openWebkit } from './webkit.ts';

/** A window of any engine, as far as all of them can be driven in one way. */
export type Window = {
  readonly open: (url: string) => Promise<void>;
  /** Runs an expression in the page, and waits if it is a promise. A page that is being left rejects. */
  readonly run: (expression: string) => Promise<unknown>;
};

const openPage = async (engine: 'chromium' | 'firefox'): Promise<Window> => {
  const context = engine === 'chromium' ? (await openBrowser()).browser : await openFirefox({});
  onTestFinished(() => context.close());
  const page = await context.newPage();
  return {
    open: async (url) => void (await page.goto(url)),
    run: (expression) => page.evaluate(expression),
  };
};

/** The engines that are here. */
export const ENGINES = [
  ...(canBrowse() ? (['chromium'] as const) : []),
  ...(hasFirefox() ? (['firefox'] as const) : []),
  ...(hasWebkit() ? (['webkit'] as const) : []),
];

/** A window without cookies, until the end of the test. */
export const openWindow = async (engine: (typeof ENGINES)[number]): Promise<Window> => {
  if (engine !== 'webkit') return openPage(engine);
  const window = await openWebkit();
  onTestFinished(window.close);
  return window;
};
