import { finishLogin } from '../../../src/application/factors/finish-login.ts';
import { confirmApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import { addPasskey, beginPasskeyRegistration } from '../../../src/application/factors/passkeys.ts';
import { login } from '../../../src/application/login/login.ts';
import { authenticator } from '../authenticator.ts';
import { codeAt } from '../authenticator-app.ts';
import type { TakeoverWorld } from './world.ts';

/** The milliseconds for which the code of an authenticator app is valid. */
const STEP = 30_000;
const textOf = (challenge: string) => Buffer.from(challenge).toString('base64url');

/** A person with one session of the account: the owner, or a thief who knows the password. A refused action changes nothing here. */
export const person = ({ app, deps, userId }: TakeoverWorld, username: string) => {
  const apps: { readonly id: string; readonly secret: string }[] = [];
  const tokens: string[] = [];
  const remembered: string[] = [];
  const recoveryCodes: string[] = [];
  let sessionId = 'none';

  const hold = (session: { sessionId: string; refreshToken: string }) => {
    sessionId = session.sessionId;
    tokens.push(session.refreshToken);
  };
  const codeOf = (secret: string) => {
    app.clock.advance(STEP);
    return codeAt(secret, app.clock.now());
  };
  const finish = async (pendingLogin: string) => {
    const secret = apps.at(-1)?.secret;
    const code = recoveryCodes.at(-1);
    const factor = secret !== undefined ? { code: codeOf(secret) } : { recoveryCode: code ?? 'none' };
    const finished = await finishLogin(deps)({ pendingLogins: [pendingLogin], factor, remember: true });
    if (finished.rememberedDevice !== null) remembered.push(finished.rememberedDevice);
    hold(finished.opened);
  };
  return {
    apps,
    tokens,
    remembered,
    hold,
    caller: () => ({ userId, sessionId }),
    request: () => ({ userId, sessionId, tokenIssuedAt: app.clock.now() / 1_000 }),
    logIn: async (password: string) => {
      const result = await login(deps)({ account: username, password, rememberedDevices: remembered });
      if ('pendingLogin' in result) await finish(result.pendingLogin);
      else hold(result);
    },
    addPasskey: async () => {
      const key = authenticator({ rpId: 'localhost', origin: 'http://localhost' });
      const { challenge, userHandle } = await beginPasskeyRegistration(deps)({ userId, sessionId });
      const credential = key.create({ challenge: textOf(challenge), user: { id: userHandle } });
      await addPasskey(deps)({ userId, sessionId }, { credential });
    },
    addApp: async () => {
      const started = await startApp(deps, app.secrets.factors)({ userId, sessionId });
      const first = { id: started.id, code: codeOf(started.secret), tokenIssuedAt: app.clock.now() / 1_000 };
      recoveryCodes.push(...(await confirmApp(deps)({ userId, sessionId, ...first })));
      apps.push(started);
    },
    startApp: () => startApp(deps, app.secrets.factors)({ userId, sessionId }),
    codeOf,
  };
};
