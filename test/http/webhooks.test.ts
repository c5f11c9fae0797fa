import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { publicHookKey, webhookKey } from '../../src/adapters/hooks/signing.ts';
import { deleteWebhook, waitingDeliveries } from '../../src/application/storage/webhooks.ts';
import type { DeliveryTimes } from '../../src/infrastructure/delivery-loop.ts';
import { aWebhook } from '../support/builders.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';
import { openReceiver } from '../support/webhook-receiver.ts';

const USERS = 20;
const { start } = servicesOverOneDatabase();

const aKey = () => generateKeyPairSync('ed25519').privateKey;
const startWith = (key: KeyObject): Promise<TestService> => {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return start({ HOOK_PRIVATE_KEY: pem, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', METRICS: '127.0.0.1:9464' });
};

/** Adds a webhook, with the key of the first instance, and lets all of them deliver until the end of the test. */
const tell = async (
  url: string,
  key: KeyObject,
  instances: readonly [TestService, ...TestService[]],
  times?: DeliveryTimes,
) => {
  const webhook = aWebhook({ url });
  const publicKey = publicHookKey(webhookKey(key, webhook, 1).privateKey);
  const { records } = instances[0].ports;
  await records.insert('webhooks', { ...webhook, publicKey });
  const stop = new AbortController();
  const delivering = instances.map((instance) => instance.webhooks.deliver(stop.signal, times));
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(delivering);
    await deleteWebhook(records, webhook.id);
  });
  return { id: webhook.id, publicKey };
};

it('an instance with another key leaves the events of both to the one that can sign, and says so once', async () => {
  const key = aKey();
  const instances = [await startWith(key), await startWith(aKey())] as const;
  const { url, received } = await openReceiver();
  const { id } = await tell(url, key, instances);
  const [able, other] = instances;
  const warned = () => other.logs.filter(({ msg }) => msg.startsWith('this instance cannot sign for a webhook'));
  await expect.poll(warned).toMatchObject([{ level: 'warn', webhook: { id } }]);
  for (let count = 0; count < USERS; count += 1) await signUp(count % 2 === 0 ? able : other);

  await expect
    .poll(() => waitingDeliveries(able.ports.records), { timeout: 60_000 })
    .toEqual({ count: 0, since: null });
  expect(received.map(({ json }) => json.type)).toEqual(Array.from({ length: USERS }, () => 'user.registered'));
  expect(await Promise.all(instances.map(({ metrics }) => metrics?.text()))).toEqual([
    expect.stringContaining(`tandem_webhook_attempts_total{outcome="delivered"} ${USERS}`),
    expect.not.stringMatching(/tandem_webhook_attempts_total\{.*\} [1-9]/),
  ]);
  expect(warned()).toHaveLength(1);
});

it('an event is sent when it is stored, not at the next poll', async () => {
  const key = aKey();
  const instance = await startWith(key);
  const { url, received } = await openReceiver();
  await tell(url, key, [instance], { pollInterval: 3_600_000 });
  for (const count of [1, 2]) {
    await signUp(instance);
    await expect.poll(() => received).toHaveLength(count);
  }
});
