import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthClient } from '../../client/src/index.ts';
import { createPasskeyClient } from '../../client/src/passkeys.ts';
import { authenticator } from '../support/authenticator.ts';
import { serviceStarter } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';

const ORIGIN = 'https://app.example.org';

const start = serviceStarter();
const service = await start({ ALLOWED_ORIGINS_DEV: ORIGIN, WEBAUTHN_RP_ID: 'example.org' });

const newKey = () => authenticator({ rpId: 'example.org', origin: ORIGIN });

/** A user who is logged in, and the calls of that user. */
const ada = async () => {
  const sent: string[] = [];
  const recorded: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return fetch(request);
  };
  const auth = createAuthClient({ baseUrl: service.url, fetch: recorded });
  onTestFinished(auth.dispose);
  await auth.register(aPerson());
  sent.splice(0);
  return { auth, sent, passkeys: createPasskeyClient({ baseUrl: `${service.url}/`, auth }) };
};

/** Makes a passkey as a browser does. */
const enrol = async ({ auth }: Awaited<ReturnType<typeof ada>>, key = newKey()) => {
  const post = async (path: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const response = await auth.fetch(`${service.url}/users/me/passkeys${path}`, { method: 'POST', ...init });
    return ((await response.json()) as { data: never }).data;
  };
  await post('', { credential: key.create(await post('/options')), name: 'Key ring' });
  return key;
};

describe('the passkeys of a user', () => {
  it('are listed, renamed and removed', async () => {
    const user = await ada();
    const { passkeys } = user;
    expect(await passkeys.list()).toEqual([]);
    const { id: credentialId } = await enrol(user);
    const [passkey] = await passkeys.list();
    expect(passkey).toMatchObject({ name: 'Key ring', credentialId });
    const id = passkey?.id ?? '';
    expect(await passkeys.rename(id, 'Drawer')).toEqual({ ...passkey, name: 'Drawer' });
    expect(await passkeys.remove(id)).toBeUndefined();
    expect(await passkeys.list()).toEqual([]);
    await expect(passkeys.remove(id)).rejects.toMatchObject({ code: 'DB_RECORD_NOT_FOUND' });
    await expect(passkeys.rename('no id', 'x')).rejects.toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
  });

  it('log in by another module', async () => {
    const user = await ada();
    const key = await enrol(user);
    await user.auth.logout();
    const response = await fetch(`${service.url}/auth/passkey/options`, { method: 'POST' });
    const { data } = (await response.json()) as { data: Parameters<typeof key.get>[0] };
    const changes: string[] = [];
    user.auth.onChange((_user, why) => changes.push(why));
    const { username } = await user.auth.logInAt('/auth/passkey', { credential: key.get(data) });
    expect([user.auth.user?.username, changes]).toEqual([username, ['login']]);
  });
});

describe('where there are no passkeys', () => {
  it('says so, and asks the service for nothing in vain', async () => {
    const { passkeys, sent } = await ada();
    expect(passkeys.isAvailable()).toBe(false);
    expect(await passkeys.logInWithPasskey({ autofill: true })).toBeNull();
    expect(await passkeys.offerPasskey()).toBe(false);
    expect(sent).toEqual([]);
  });

  it('rejects what the user has asked for', async () => {
    const { passkeys } = await ada();
    const refused = { code: 'CLIENT_PASSKEY_REFUSED', retryable: false, cause: expect.any(Error) };
    await expect(passkeys.logInWithPasskey()).rejects.toMatchObject(refused);
    await expect(passkeys.passkeyCredential()).rejects.toMatchObject(refused);
    await expect(passkeys.add({ name: 'Key ring' })).rejects.toMatchObject(refused);
  });

  it('rejects with the reason of a signal', async () => {
    const { passkeys } = await ada();
    const signal = AbortSignal.abort('no time');
    await expect(passkeys.logInWithPasskey({ signal })).rejects.toBe('no time');
    await expect(passkeys.add({ signal })).rejects.toBe('no time');
  });
});
