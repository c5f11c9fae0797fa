import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { assertionSigner } from './assertion.ts';
import { createFormerSystem } from './former-system.ts';

const { ADOPTION_PRIVATE_KEY_FILE, TANDEM = 'http://localhost:3000', IDS = '{}', PORT = '4000' } = process.env;
if (!ADOPTION_PRIVATE_KEY_FILE) throw new Error('set ADOPTION_PRIVATE_KEY_FILE');
const frontEnd = process.env.FRONT_END ?? 'http://localhost:5173';
const ids = new Map<string, string>(Object.entries(JSON.parse(IDS)));

const app = createFormerSystem({
  idOf: (user) => ids.get(user),
  sign: assertionSigner(readFileSync(ADOPTION_PRIVATE_KEY_FILE, 'utf8'), TANDEM),
  frontEnd,
});
const server = app.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ address: server.address() as AddressInfo })}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => server.close());
