import type { KeyObject } from 'node:crypto';
import { request as overHttp, type RequestOptions } from 'node:http';
import { request as overTls } from 'node:https';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { SenderFor, SendWebhook } from '../../application/ports/hooks.ts';
import { withTimeout } from '../limits/time-limits.ts';
import { LoggableError } from '../log/redact-error.ts';
import { traceHeaders } from '../tracing/spans.ts';
import { requestSpan } from '../tracing/traced-fetch.ts';
import { allowedAddresses, type Networks, pinnedLookup, type Resolve } from './addresses.ts';
import { publicHookKey, signedHeaders, webhookKeys } from './signing.ts';

/** Milliseconds, from the look-up of the name to the headers of the response. */
const ATTEMPT_TIMEOUT = 20_000;
const MAX_RESPONSE_HEADER_BYTES = 8_192;

type SenderDeps = {
  /** The private key of the hooks; `null` if this instance has none. */
  readonly hookKey: () => Promise<KeyObject | null>;
  readonly allowedNetworks: Networks;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly resolve?: Resolve;
};

/** Opens a connection for each message, to an address that was checked. Returns `null` unless the webhook's `publicKey` is derived from `hookKey`. */
export const webhookSender =
  ({ hookKey, allowedNetworks, clock, stop, resolve }: SenderDeps, timeout = ATTEMPT_TIMEOUT): SenderFor =>
  async (webhook) => {
    const key = await hookKey();
    const keys = key === null ? [] : webhookKeys(key, webhook, clock.now());
    if (keys[0] === undefined || publicHookKey(keys[0].privateKey) !== webhook.publicKey) return null;
    return ({ id, at, ...message }) => {
      const body = JSON.stringify({ timestamp: new Date(at).toISOString(), ...message });
      const headers = signedHeaders(id, clock.now(), body, keys);
      const end = new AbortController();
      const signal = AbortSignal.any([stop, end.signal]);
      const lateError = () => new LoggableError('the receiver has not answered in time');
      const send = async () => {
        const url = new URL(webhook.url);
        const addresses = await allowedAddresses(url, allowedNetworks, resolve);
        signal.throwIfAborted();
        const options = { headers: { ...headers, ...traceHeaders() }, lookup: pinnedLookup(addresses), signal };
        return sendRequest(url, options, body, clock);
      };
      return requestSpan(webhook.url, 'POST', () => withTimeout(timeout, send(), lateError).finally(() => end.abort()));
    };
  };

const sendRequest = (url: URL, options: RequestOptions, body: string, clock: Clock): ReturnType<SendWebhook> =>
  new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? overTls : overHttp;
    const request = send(url, { ...options, method: 'POST', agent: false, maxHeaderSize: MAX_RESPONSE_HEADER_BYTES });
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('error', () => undefined);
      const { statusCode: status = 0, headers } = response;
      const isBusy = status === 429 || status === 503;
      resolve({ status, retryAfter: isBusy ? retryAfterOf(headers['retry-after'] ?? '', clock.now()) : 0 });
      request.destroy();
    });
    request.end(body);
  });

/** Milliseconds to wait. @param text the header Retry-After, seconds or a date (RFC 9110 §10.2.3) */
const retryAfterOf = (text: string, now: number): number => {
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
};
