import type { Reply } from './client.ts';
import { hold } from './expectations.ts';

export type SetCookie = {
  readonly value: string;
  /** By lower-case name; those without a value are empty. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Without the value, which is a token. */
  readonly printable: string;
};

const NAME = 'refresh_token';

/** The cookie `refresh_token` that a response sets. */
export const refreshCookieOf = (reply: Reply): SetCookie => {
  const lines = reply.setCookies.filter((line) => line.startsWith(`${NAME}=`));
  hold(lines.length === 1, `one Set-Cookie of ${NAME}`, `${lines.length} (${reply.to}, status ${reply.status})`);
  const [pair = '', ...rest] = (lines[0] ?? '').split(/\s*;\s*/);
  const attributes = rest.map((attribute): [string, string] => {
    const [name = '', ...value] = attribute.split('=');
    return [name.toLowerCase(), value.join('=')];
  });
  const printable = [`${NAME}=…`, ...rest].join('; ');
  return { value: pair.slice(NAME.length + 1), attributes: new Map(attributes), printable };
};

/** The header `Cookie` with this refresh token. */
export const asCookie = (token: string): { readonly cookie: string } => ({ cookie: `${NAME}=${token}` });
