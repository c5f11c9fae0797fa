import { browser, ignore, sleep } from './host.ts';
import type { PasskeyRequestOptions } from './types.ts';
import { get } from './webauthn.ts';

type Ask = () => Promise<PasskeyRequestOptions>;

/** Milliseconds between two checks of the age of a challenge. A timer until its end would stand still while the machine sleeps. */
const CHECK_INTERVAL = 10_000;

/** Waits until a passkey is chosen in the form, with another challenge before one expires. */
export const chosen = async (ask: Ask, first: PasskeyRequestOptions, signal: AbortSignal) => {
  for (let options = first; ; ) {
    const round = new AbortController();
    const next = successor(ask, options, round.signal);
    next.then(() => round.abort());
    try {
      return await get(options, AbortSignal.any([signal, round.signal]), { mediation: 'conditional' });
    } catch (error) {
      const other = round.signal.aborted && !signal.aborted && (await next);
      if (!other) throw error;
      options = other;
    } finally {
      round.abort();
    }
  }
};

/**
 * Other options, when these are old and the page is visible. A challenge is good for longer than the time-out, which says when it is old without
 * the clock of the service.
 */
const successor = async (ask: Ask, { timeout }: PasskeyRequestOptions, signal: AbortSignal) => {
  const start = Date.now();
  for (;;) {
    await sleep(CHECK_INTERVAL);
    if (signal.aborted) return;
    // The clock may have been set back, too.
    const isOld = Math.abs(Date.now() - start) >= timeout;
    const options = isOld && !browser()?.document.hidden && (await ask().catch(ignore));
    if (options) return options;
  }
};
