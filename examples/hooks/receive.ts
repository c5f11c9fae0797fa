import type { AddressInfo } from 'node:net';
import { company } from './company.ts';
import { createReceiver } from './receiver.ts';

const { HOOK_PUBLIC_KEYS, PORT = '4000' } = process.env;
if (!HOOK_PUBLIC_KEYS) throw new Error('set HOOK_PUBLIC_KEYS to what `npx tandem keys hook` shows');

const decide = company(new Map([['example.com', 'Example']]));
const server = createReceiver(HOOK_PUBLIC_KEYS.split(','), decide).listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ address: server.address() as AddressInfo })}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => server.close());
