import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import { FORMER_KEY_LIFETIME, type Webhook } from '../../domain/webhook.ts';
import { tracedFetch } from '../tracing/traced-fetch.ts';

/** The public key of an Ed25519 key pair, in the form of Standard Webhooks. */
export const publicHookKey = (key: KeyObject): string => {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
};

export type SigningKey = {
  readonly privateKey: KeyObject;
  /** The HMAC key of signatures `v1`. */
  readonly secret?: Buffer;
};

/** The headers of Standard Webhooks 1.0. A signature `v1a` is by Ed25519, `v1` by HMAC-SHA-256. @param at epoch milliseconds */
export const signedHeaders = (id: string, at: number, body: string, keys: readonly SigningKey[]) => {
  const timestamp = Math.floor(at / 1_000);
  const signed = Buffer.from(`${id}.${timestamp}.${body}`);
  const signatures = keys.flatMap(({ privateKey, secret }) => [
    `v1a,${sign(null, signed, privateKey).toString('base64')}`,
    ...(secret === undefined ? [] : [`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`]),
  ]);
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
};

type SignedMessage = { readonly id: string; readonly at: number; readonly type: string; readonly data: object };

/** Posts a message, signed as Standard Webhooks says. Follows no redirect. @param key an Ed25519 key */
export const postSigned = (url: string, key: KeyObject, { id, at, type, data }: SignedMessage, signal: AbortSignal) => {
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  const headers = signedHeaders(id, at, body, [{ privateKey: key }]);
  return tracedFetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
};

/** The bytes of an Ed25519 private key in PKCS #8 before its seed (RFC 8410 §7). */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

const deriveSecret = (key: KeyObject, use: 'ed25519' | 'hmac', id: string, number: number): Buffer => {
  const { d = '' } = key.export({ format: 'jwk' });
  return Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', `tandem webhook ${use} ${id} ${number}`, 32));
};

/** Derives the keys of a webhook from the key of the hooks, so that no secret is stored. @param key an Ed25519 key. @param number counts rotations */
export const webhookKey = (key: KeyObject, { id, hasSecret }: Pick<Webhook, 'id' | 'hasSecret'>, number: number) => {
  const der = Buffer.concat([ED25519_PREFIX, deriveSecret(key, 'ed25519', id, number)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { privateKey, ...(hasSecret && { secret: deriveSecret(key, 'hmac', id, number) }) };
};

/** The keys with which messages of a webhook are signed now: the current one, and for a day after a rotation the former one as well. */
export const webhookKeys = (key: KeyObject, webhook: Webhook, now: number): readonly SigningKey[] => {
  const { keyNumber, rotatedAt } = webhook;
  const hasFormer = rotatedAt !== null && now < rotatedAt + FORMER_KEY_LIFETIME;
  return [keyNumber, ...(hasFormer ? [keyNumber - 1] : [])].map((number) => webhookKey(key, webhook, number));
};
