import { utf8Length } from './password.ts';

/** Where a session was opened, so that its user can distinguish the sessions in a list. ADR 0025. */
export type Device = {
  /** The `User-Agent` header, shortened; `null` when there was none. */
  readonly userAgent: string | null;
  /** The client's network in CIDR notation, never the full address. */
  readonly address: string | null;
};

export const UNKNOWN_DEVICE: Device = { userAgent: null, address: null };

/** Bytes of UTF-8. Limited, since any client decides what is stored. */
const USER_AGENT_MAX_BYTES = 200;
/** Control characters, format characters (which may reorder text), and lone surrogates, which cannot be stored. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** A `User-Agent` header as it is stored; `null` when no visible character is left. */
export const shortUserAgent = (text: string): string | null => {
  const visible = cut(text.replace(INVISIBLE, ''), USER_AGENT_MAX_BYTES).trim();
  return visible === '' ? null : visible;
};

/** The first bytes of a text, without the rest of a character that does not fit as a whole. */
const cut = (text: string, bytes: number): string => {
  let [kept, length] = ['', 0];
  for (const character of text) {
    length += utf8Length(character);
    if (length > bytes) break;
    kept += character;
  }
  return kept;
};

/** A version of a browser or a system, which updates change. */
const VERSION = /\d+(?:[._]\d+)*/g;

const withoutVersions = (userAgent: string | null): string | null => userAgent?.replace(VERSION, '') ?? null;

/** Whether two log-ins probably come from one device: the same network, and the same browser in any version. */
export const isSameDevice = (a: Device, b: Device): boolean =>
  a.address === b.address && withoutVersions(a.userAgent) === withoutVersions(b.userAgent);
