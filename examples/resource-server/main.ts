import type { AddressInfo } from 'node:net';
// In a program of your own: from 'tandem-client/server'.
import { followEndedSessions } from '../../client/src/server.ts';
import { createApp } from './app.ts';

const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, KEY_SET, ALLOWED_ORIGINS = '', PORT = '4000' } = process.env;
const whenStale = process.env.WHEN_STALE === 'refuse' ? 'refuse' : 'stale-ok';
if (!issuer || !audience) throw new Error('set JWT_ISSUER and JWT_AUDIENCE as the authentication service has them');

const keySet = new URL(KEY_SET ?? '/.well-known/jwks.json', issuer);
const baseUrl = new URL('..', keySet).href;
const onError = ({ message }: Error) => process.stderr.write(`${message}\n`);
const ended = followEndedSessions({ baseUrl, issuer, whenStale, onError });
const app = createApp({ keySet, issuer, audience }, ALLOWED_ORIGINS.split(','), ended.isEnded);
const server = app.listen(Number(PORT), () => {
  process.stdout.write(`${JSON.stringify({ address: server.address() as AddressInfo })}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    ended.close();
    server.close();
  });
