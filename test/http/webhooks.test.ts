import { generateKeyPairSync } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { publicHookKey, webhookKey } from '../../src/adapters/hooks/signing.ts';
import { aWebhook } from '../support/builders.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { openReceiver, signersOf } from '../support/webhook-receiver.ts';

const USERS = 20;
const { start } = servicesOverOneDatabase();

it('two instances deliver each event once, and those of a user in order', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const env = { HOOK_PRIVATE_KEY: pem, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const instances = [await start(env), await start(env)] as const;
  const { url, received } = await openReceiver();
  const webhook = aWebhook({ url });
  const publicKey = publicHookKey(webhookKey(privateKey, webhook, 1).privateKey);
  await instances[0].ports.webhooks.add({ ...webhook, publicKey });

  const stop = new AbortController();
  const delivering = instances.map(({ webhooks }) => webhooks.deliver(stop.signal));
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(delivering);
  });
  const people = await Promise.all(
    Array.from({ length: USERS }, async (_none, index) => {
      const [here, there] = index % 2 === 0 ? instances : instances.toReversed();
      const signedUp = await signUp(here ?? expect.unreachable());
      await there?.http.get('/auth/clear-cookie').set('Cookie', signedUp.cookie).expect(200);
      return signedUp.user.id;
    }),
  );

  const { webhooks } = instances[0].ports;
  await expect.poll(() => webhooks.waiting()).toEqual({ count: 0, since: null });
  const ids = received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of people) {
    const story = received.filter(({ json }) => json.data.userId === id).map(({ json }) => [json.type, json.sequence]);
    expect(story).toEqual([
      ['user.registered', 1],
      ['session.ended', 2],
    ]);
  }
  expect(received.flatMap((each) => signersOf(each, [publicKey]))).toHaveLength(2 * USERS);
});
