import type { KeyObject } from 'node:crypto';
import type { Clock, IdGenerator } from '../../application/ports/clock-and-ids.ts';
import { LoggableError } from '../log/redact-error.ts';
import { boundedText } from '../tracing/traced-fetch.ts';
import { ANSWER_TIMEOUT } from './bounded.ts';
import { postSigned } from './signing.ts';

const MAX_ANSWER_BYTES = 16_384;

export type AskDeps = { readonly clock: Clock; readonly ids: IdGenerator };

/** A hook that posts signed requests to a URL. It returns the JSON of the answer unchecked. @param key an Ed25519 key */
export const askOverHttp =
  (url: string, key: KeyObject, type: 'registration.requested' | 'password.presented', { clock, ids }: AskDeps) =>
  async (data: object) => {
    const message = { id: `msg_${ids.next()}`, at: clock.now(), type, data };
    const response = await postSigned(url, key, message, AbortSignal.timeout(ANSWER_TIMEOUT));
    if (!response.ok) {
      await response.body?.cancel();
      throw new LoggableError(`the hook has answered with the status ${response.status}`);
    }
    return JSON.parse(await boundedText(response, MAX_ANSWER_BYTES));
  };
