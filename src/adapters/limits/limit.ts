/** Requests in a window of milliseconds; `null` is no limit. */
export type Limit = { readonly requests: number; readonly window: number } | null;
