import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { makeDeviceKey } from './device-key.ts';

/** What outlives the program. */
type Kept = { readonly key: string; readonly cookies: Readonly<Record<string, string>> };

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * The key of the device and the cookies of the service, in a file that its owner alone can read. Only a file that is not there means that nobody
 * has logged in: one that cannot be read now throws, and the session lives on.
 */
export const openStore = (path: string) => {
  const save = (kept: Kept): Kept => {
    // A program that is killed leaves the old file or the new one.
    writeFileSync(`${path}.new`, JSON.stringify(kept), { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
    return kept;
  };
  const load = (): Kept => {
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      if (!isMissing(error)) throw error;
      return save({ key: makeDeviceKey(), cookies: {} });
    }
  };
  let kept = load();
  return {
    key: (): string => kept.key,
    /** The header `Cookie`. */
    cookie: (): string =>
      Object.entries(kept.cookies)
        .map(([name, value]) => `${name}=${value}`)
        .join('; '),
    /** Takes what a response sets (`Set-Cookie`). Cookies without a value are gone. */
    keep: (lines: readonly string[]): void => {
      if (lines.length === 0) return;
      const cookies = { ...kept.cookies };
      for (const line of lines) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '') delete cookies[name];
        else cookies[name] = value;
      }
      kept = save({ ...kept, cookies });
    },
    /** Forgets a cookie, whatever prefix `JWT_REFRESH_COOKIE_PREFIX` puts before its name. */
    forget: (name: string): void => {
      const others = Object.entries(kept.cookies).filter(([each]) => !each.endsWith(name));
      kept = save({ ...kept, cookies: Object.fromEntries(others) });
    },
  };
};
