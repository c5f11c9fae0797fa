import * as v from 'valibot';
import { itemsOf } from './schemas.ts';

/** Enough for every application of a product, and few enough for the headers that name them. */
const MAX_ITEMS = 50;

/** A port as browsers write it: without a zero in front. */
const PORT = String.raw`(?::[1-9]\d{0,4})?`;
/** The origin of a program, such as an app or an extension: a scheme of its own, a host, perhaps a port. It is compared as text. */
const OF_PROGRAMS = new RegExp(String.raw`^[a-z][a-z\d+.-]{1,30}:\/\/[a-z\d._-]{1,100}${PORT}$`);
/** Their URLs have the origins of the URL standard, or none: `file:` is every file of a device, and sends `null` in most browsers. */
const NOT_OF_PROGRAMS = /^(?:https?|wss?|ftp|file|filesystem|about|blob|data|javascript|android):/;

const listUpTo = (limit: number, isItem: (text: string) => boolean) =>
  v.pipe(
    v.string(),
    v.transform((text) => itemsOf(text).filter((item) => item !== '')),
    v.maxLength(limit),
    v.everyItem(isItem),
  );

/** Exactly as browsers send it in `Origin` (RFC 6454 §6.2). `URL` would accept `*` in a host name. */
const isWebOrigin = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*');
};

const isProgramOrigin = (text: string): boolean => OF_PROGRAMS.test(text) && !NOT_OF_PROGRAMS.test(text);

export const isOfProgram = (origin: string): boolean => !/^https?:/.test(origin);

export const origins = listUpTo(MAX_ITEMS, (text) => isWebOrigin(text) || isProgramOrigin(text));

/** As Android writes it of an app: the SHA-256 of the certificate that has signed it. */
const ANDROID_APP = /^android:apk-key-hash:[\w-]{43}$/;

/** Origins in the client data of passkeys (WebAuthn Level 3 §5.8.1). */
export const passkeyOrigins = listUpTo(MAX_ITEMS, (text) => isWebOrigin(text) || ANDROID_APP.test(text));

/** Names of headers (RFC 9110 §5.1). `*` has no meaning in requests with credentials (Fetch §3.3.5). */
export const headerNames = listUpTo(MAX_ITEMS, (text) => text !== '*' && /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(text));
