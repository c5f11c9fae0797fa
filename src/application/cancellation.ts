/** What a use case asks before it writes, so that work whose caller has gone leaves no trace. An AbortSignal is one. */
export type Cancellation = { throwIfAborted(): void };

export const NEVER_CANCELLED: Cancellation = { throwIfAborted: () => undefined };
