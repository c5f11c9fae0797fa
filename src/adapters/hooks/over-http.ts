import type { KeyObject } from 'node:crypto';
import type { Clock, IdGenerator } from '../../application/ports/clock-and-ids.ts';
import { LoggableError } from '../log/redact-error.ts';
import { boundedText, tracedFetch } from '../tracing/traced-fetch.ts';
import { ANSWER_TIMEOUT } from './bounded.ts';
import { signedHeaders } from './signing.ts';

const MAX_ANSWER_BYTES = 16_384;

export type AskDeps = { readonly clock: Clock; readonly ids: IdGenerator };

/**
 * A hook that asks a URL, in requests that are signed as Standard Webhooks says. It gives up after two seconds, and follows no redirect. The
 * answer is JSON that nothing has checked yet.
 * @param key an Ed25519 key
 * @param type what is asked
 */
export const askOverHttp =
  <Data>(url: string, key: KeyObject, type: 'registration.requested' | 'password.presented', { clock, ids }: AskDeps) =>
  async (data: Data) => {
    const [id, now] = [`msg_${ids.next()}`, clock.now()];
    const body = JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
    const response = await tracedFetch(url, {
      method: 'POST',
      headers: signedHeaders(id, now, body, [{ privateKey: key }]),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new LoggableError(`the hook has answered with the status ${response.status}`);
    }
    return JSON.parse(await boundedText(response, MAX_ANSWER_BYTES));
  };
