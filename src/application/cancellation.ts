/** Checked by a use case before it writes, so that cancelled work has no effect. An `AbortSignal` is one. */
export type Cancellation = { throwIfAborted(): void };

export const NEVER_CANCELLED: Cancellation = { throwIfAborted: () => undefined };
