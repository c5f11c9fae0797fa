/** Where a session was opened, as far as its owner needs it to tell one session from another. ADR 0025. */
export type Device = {
  /** What the client called itself, cut short; `null` when it said nothing. */
  readonly userAgent: string | null;
  /** The client's network, in CIDR notation: never the whole address. */
  readonly address: string | null;
};

export const UNKNOWN_DEVICE: Device = { userAgent: null, address: null };

/** Code points. */
const USER_AGENT_MAX_LENGTH = 256;
/** What is not seen, or makes others be seen elsewhere; and halves of surrogate pairs, which no storage could hold. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** What a client calls itself, as it is kept; `null` when nothing is left. */
export const shortUserAgent = (text: string): string | null => {
  const seen = [...text.replace(UNSEEN, '')].slice(0, USER_AGENT_MAX_LENGTH).join('').trim();
  return seen === '' ? null : seen;
};
