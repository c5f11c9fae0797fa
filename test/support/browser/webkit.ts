import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { inject, vi } from 'vitest';
import '../servers/provided.ts';
import { freePort } from '../servers/free-port.ts';
import { killAtExit, removeAtExit } from '../servers/keeper.ts';
import { serverDirectory } from '../servers/unprivileged.ts';

/** Whether WebKit is available. Playwright cannot control it, since it needs its own build of WebKit. */
export const hasWebkit = (): boolean => (inject('webkit') ?? null) !== null;

/** Milliseconds, which only catch hangs: as long as the polls of vitest. */
const PATIENCE = 60_000;

let running: Promise<string> | null = null;

/** Opens a window without cookies, by WebDriver (W3C). The driver ends with this process. */
export const openWebkit = async () => {
  running ??= launch();
  const driver = await running;
  const command = async (method: 'POST' | 'DELETE', path: string, body: object = {}): Promise<unknown> => {
    const response = await fetch(driver + path, { method, ...(method === 'POST' && { body: JSON.stringify(body) }) });
    const { value } = (await response.json()) as { readonly value: unknown };
    if (!response.ok) throw new Error(JSON.stringify(value));
    return value;
  };
  const opened = await command('POST', '/session', {
    capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { args: ['--automation'] } } },
  });
  const session = `/session/${(opened as { readonly sessionId: string }).sessionId}`;
  await command('POST', `${session}/timeouts`, { script: PATIENCE, pageLoad: PATIENCE });
  return {
    open: async (url: string): Promise<void> => void (await command('POST', `${session}/url`, { url })),
    /** Evaluates an expression in the page, and awaits its value. */
    run: (expression: string): Promise<unknown> =>
      command('POST', `${session}/execute/async`, {
        script: `const done = arguments[0]; Promise.resolve(${expression}).then(done, (error) => done(String(error)));`,
        args: [],
      }),
    close: async (): Promise<void> => void (await command('DELETE', session)),
  };
};

const launch = async (): Promise<string> => {
  const programs = inject('webkit');
  if (!programs) throw new Error('there is no WebKit here: see hasWebkit');
  const home = serverDirectory('webkit', {});
  removeAtExit(home);
  const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home, LIBGL_ALWAYS_SOFTWARE: '1' };
  const display = spawn(programs.display, ['-displayfd', '3', '-nolisten', 'tcp'], {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  killAtExit(display);
  const [number] = await once(display.stdio[3] as Readable, 'data');
  const port = await freePort();
  const driver = spawn(programs.driver, [`--port=${port}`], {
    env: { ...env, DISPLAY: `:${`${number}`.trim()}` },
    stdio: 'ignore',
  });
  killAtExit(driver);
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(`${url}/status`), { timeout: PATIENCE });
  return url;
};
