import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import { expect, it } from 'vitest';
import { privatePem } from '../../src/infrastructure/keys.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../examples/adoption/main.ts', import.meta.url));
const FRONT_END = 'https://app.example.org';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { start } = servicesOverOneDatabase();

it('takes a session of the former system over, without a log-in', async () => {
  const file = join(temporaryDirectory().path, 'adoption.pem');
  writeFileSync(file, privatePem(privateKey));
  const ADOPTION_PUBLIC_KEY = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const service = await start({ ADOPTION_PUBLIC_KEY, ALLOWED_ORIGINS_DEV: FRONT_END });
  const { user } = await signUp(service);
  const env = { ADOPTION_PRIVATE_KEY_FILE: file, TANDEM: service.config.baseUrl, FRONT_END };
  const { url, stop } = await runService({ ...env, IDS: JSON.stringify({ old: user.id }) }, [], PROGRAM);

  const cookieOf = async (name: string): Promise<string> => {
    const response = await fetch(`${url}/log-in?user=${name}`, { method: 'POST' });
    return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  };
  const ask = async (cookie: string, origin = FRONT_END) =>
    fetch(`${url}/adoption`, { method: 'POST', headers: { Cookie: cookie, Origin: origin } });
  const cookie = await cookieOf('old');
  const { assertion } = (await (await ask(cookie)).json()) as { assertion: string };
  const adopt = service.http.post('/auth/adopt').set('Origin', FRONT_END);
  const { body } = await adopt.send({ assertion }).expect(200);
  expect(decodeJwt(body.data.accessToken).sub).toBe(user.id);

  const refused = [ask(''), ask(await cookieOf('unknown')), ask(cookie, 'https://evil.example')];
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([401, 401, 403]);
  expect(await stop()).toEqual({ code: 0, signal: null });
});
