import type { Reply } from './client.ts';

export type Redact = (text: string) => string;

const LONGEST = 400;
/** Anything that looks like a JWT or a bcrypt hash, whole or cut off. */
const TOKEN = /ey[\w-]{8,}(?:\.[\w-]*){0,2}/g;
const HASH = /\$2[aby]\$\d\d\$[./\w]*/g;
/** Characters that a terminal may act on, and those that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** Makes texts fit to print: without the secrets of this run, without control characters, and short. */
export const redactor = () => {
  const secrets = new Set<string>();
  const hide = (secret: unknown): void => {
    if (typeof secret === 'string' && secret.length > 7) secrets.add(secret);
  };
  return {
    hide,
    /** Remembers the tokens of a response, whatever their form. */
    learn: ({ setCookies, text }: Reply): void => {
      for (const line of setCookies) hide(/^[^=;]*=([^;]*)/.exec(line)?.[1]);
      for (const [, token] of text.matchAll(/"accessToken"\s*:\s*"([^"]*)"/g)) hide(token);
    },
    text: (text: string): string => {
      const plain = [...secrets]
        .toSorted((one, other) => other.length - one.length)
        .reduce((rest, secret) => rest.replaceAll(secret, '(secret)'), text)
        .replace(TOKEN, '(token)')
        .replace(HASH, '(hash)')
        .replace(UNPRINTABLE, escaped);
      return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
    },
  };
};
