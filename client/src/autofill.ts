import { browser, ignore, sleep } from './host.ts';
import type { PasskeyRequestOptions } from './types.ts';
import { get } from './webauthn.ts';

type Ask = () => Promise<PasskeyRequestOptions>;

/** Milliseconds between two checks of the age of a challenge. One long timer would stand still while the machine sleeps. */
const CHECK_INTERVAL = 10_000;

/** Waits until the user chooses a passkey in the form, and replaces the challenge before it expires. */
export const awaitPasskey = async (ask: Ask, first: PasskeyRequestOptions, signal: AbortSignal) => {
  for (let options = first; ; ) {
    const round = new AbortController();
    const pendingOptions = nextOptions(ask, options, round.signal);
    pendingOptions.then(() => round.abort());
    try {
      return await get(options, AbortSignal.any([signal, round.signal]), { mediation: 'conditional' });
    } catch (error) {
      const newOptions = round.signal.aborted && !signal.aborted && (await pendingOptions);
      if (!newOptions) throw error;
      options = newOptions;
    } finally {
      round.abort();
    }
  }
};

/** Resolves to new options when the page is visible after the time-out of the present ones, whose challenge the service accepts for longer. */
const nextOptions = async (ask: Ask, { timeout }: PasskeyRequestOptions, signal: AbortSignal) => {
  const start = Date.now();
  for (;;) {
    await sleep(CHECK_INTERVAL);
    if (signal.aborted) return;
    // The difference is negative if the clock was set back: then the age is unknown.
    const isOld = Math.abs(Date.now() - start) >= timeout;
    const options = isOld && !browser()?.document.hidden && (await ask().catch(ignore));
    if (options) return options;
  }
};
