import type { AddressInfo } from 'node:net';
import { createApp } from './app.ts';

const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, KEY_SET, ALLOWED_ORIGINS = '', PORT = '4000' } = process.env;
if (!issuer || !audience) throw new Error('set JWT_ISSUER and JWT_AUDIENCE as the authentication service has them');

const keySet = new URL(KEY_SET ?? '/.well-known/jwks.json', issuer);
const server = createApp({ keySet, issuer, audience }, ALLOWED_ORIGINS.split(',')).listen(Number(PORT), () => {
  process.stdout.write(`${JSON.stringify({ address: server.address() as AddressInfo })}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => server.close());
