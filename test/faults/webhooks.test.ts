import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { runHere } from '../support/processes/commands.ts';
import { accountAt, SOON, startKillable } from '../support/processes/killable-service.ts';
import { postJson } from '../support/processes/sessions-under-load.ts';
import { canStartServers } from '../support/servers/of-the-tests.ts';
import { openReceiver } from '../support/webhook-receiver.ts';

it.runIf(canStartServers())(
  'an outage of PostgreSQL between the answer of a receiver and the end of the delivery costs a repetition, and no order',
  async () => {
    const service = await startKillable({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
    onTestFinished(service.close);
    const held = Promise.withResolvers<ServerResponse>();
    const { url, received } = await openReceiver((_request, response) => {
      if (received.length === 1) held.resolve(response);
      else response.writeHead(204).end();
    });
    expect((await runHere(['webhooks', 'add', url], service.env)).status).toBe(0);
    const { username: account, password } = await accountAt(service.url());
    expect((await postJson(`${service.url()}/auth/login`, { account, password })).status).toBe(200);

    const response = await held.promise;
    await service.kill('postgresql');
    const { socket } = response;
    response.writeHead(204).end();
    await once(socket ?? expect.unreachable(), 'close');
    await service.restart('postgresql');
    // As after the lease.
    await service.query('update webhook_deliveries set next_attempt_at = 0 where next_attempt_at is not null');

    const left = () => service.query('select user_id from webhook_deliveries');
    await expect.poll(left, SOON).toEqual([]);
    expect(received.map(({ json }) => [json.type, json.sequence])).toEqual([
      ['user.registered', 1],
      ['user.registered', 1],
      ['session.started', 2],
    ]);
    expect(received[0]?.headers['webhook-id']).toBe(received[1]?.headers['webhook-id']);
  },
);
