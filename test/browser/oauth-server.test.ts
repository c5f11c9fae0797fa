import { createServer } from 'node:http';
import * as client from 'openid-client';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { logInAtService, logOutAtService } from '../support/browser/at-service.ts';
import { canBrowse, openBrowser } from '../support/browser/chromium.ts';
import { installedExample } from '../support/browser/rendered-pages.ts';
import { runAtEnd } from '../support/closing.ts';
import { aPerson } from '../support/http/service.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { DEVELOPMENT } from '../support/processes/environments.ts';
import { runService } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';

describe.runIf(canBrowse())('examples/oauth-server', () => {
  let [service, redirectUri] = ['', ''];
  let server: client.Configuration;
  let newBrowser: () => Promise<Page>;
  beforeAll(async () => {
    const [port, servicePort] = [await freePort(), await freePort()];
    const issuer = `http://localhost:${port}`;
    service = `http://localhost:${servicePort}`;
    const app = await listenOnLoopback(createServer((_request, response) => void response.end('the application')));
    redirectUri = `http://localhost:${app.port}/callback`;
    const origins = { ALLOWED_ORIGINS_DEV: `${issuer},http://localhost:${app.port}` };
    const cookie = { ACCESS_COOKIE: 'true', JWT_AUTHENTICATION_CLAIMS: 'true' };
    const at = { PORT: `${servicePort}`, BASE_URL: service, RATE_LIMITS: 'off' };
    await runService({ ...DEVELOPMENT, ...at, ...origins, ...cookie });
    const discovery = `${issuer}/.well-known/openid-configuration`;
    const env = {
      ISSUER: issuer,
      PORT: `${port}`,
      SERVICE: service,
      REDIRECT_URI: redirectUri,
      CLIENT_SECRET: 's3cr3t',
    };
    runAtEnd(await installedExample('oauth-server').start('server.js', discovery, env));
    const execute = [client.allowInsecureRequests];
    server = await client.discovery(new URL(issuer), 'app', 's3cr3t', undefined, { execute });
    const { browser } = await openBrowser();
    newBrowser = async () => {
      await browser.clearCookies();
      const tab = await browser.newPage();
      onTestFinished(() => tab.close());
      return tab;
    };
  });

  const registered = async () => {
    const person = aPerson();
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${service}/auth/register`, { method: 'POST', headers, body: JSON.stringify(person) });
    const { data } = (await response.json()) as { data: { user: { id: string } } };
    return { ...person, id: data.user.id };
  };

  /** Sends a tab to the server, as the application does. @returns what finishes the log-in once the tab is back. */
  const asking = async (tab: Page, parameters: Record<string, string> = {}) => {
    const verifier = client.randomPKCECodeVerifier();
    const url = client.buildAuthorizationUrl(server, {
      ...{ redirect_uri: redirectUri, scope: 'openid profile email', ...parameters },
      ...{ code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    });
    await tab.goto(url.href);
    return async () => {
      await tab.waitForURL(`${redirectUri}?**`);
      const checks = { pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await client.authorizationCodeGrant(server, new URL(tab.url()), checks);
      return { ...tokens, claims: tokens.claims() };
    };
  };
  const loggedIn = async () => {
    const [tab, person] = [await newBrowser(), await registered()];
    const finish = await asking(tab);
    await logInAtService(tab, person);
    return { tab, person, ...(await finish()) };
  };
  const refused = (refreshToken = '') =>
    client.refreshTokenGrant(server, refreshToken).then(
      () => null,
      ({ error }) => error,
    );

  it('logs a user of Tandem in to an application, which learns who it is', async () => {
    const { tab, person, claims, access_token, refresh_token } = await loggedIn();
    expect(claims).toMatchObject({ sub: person.id, acr: 'aal1', amr: ['pwd'] });
    const { username: preferred_username, email } = person;
    const said = { sub: person.id, preferred_username, email, email_verified: false };
    expect(await client.fetchUserInfo(server, access_token, person.id)).toEqual(said);
    expect((await client.refreshTokenGrant(server, `${refresh_token}`)).claims()?.sub).toBe(person.id);

    const again = await (await asking(tab, { prompt: 'none' }))();
    expect(again.claims?.sub).toBe(person.id);
    // The access token of Tandem has expired: the browser gets another one, and nobody is asked.
    await tab.context().clearCookies({ name: 'access_token' });
    expect((await (await asking(tab))()).claims?.sub).toBe(person.id);
  });

  it('lets an application ask for another log-in', async () => {
    const { tab, person, claims } = await loggedIn();
    const former = Number(claims?.auth_time);
    // The server asks whoever has not logged in since the second in which it was asked.
    await vi.waitUntil(() => Date.now() / 1_000 >= former + 1, { timeout: 60_000 });
    const finish = await asking(tab, { prompt: 'login' });
    await logOutAtService(tab);
    await logInAtService(tab, person);
    expect((await finish()).claims?.auth_time).toBeGreaterThan(former);
  });

  it('ends the tokens of the application with the session of Tandem, by a log-out at either', async () => {
    const { tab, refresh_token } = await loggedIn();
    await tab.goto(client.buildEndSessionUrl(server, { post_logout_redirect_uri: redirectUri }).href);
    await logOutAtService(tab);
    await tab.getByText('the application').waitFor();
    await vi.waitFor(async () => expect(await refused(refresh_token)).toBe('invalid_grant'), { timeout: 60_000 });

    await asking(tab, { prompt: 'none' });
    expect(new URL(tab.url()).searchParams.get('error')).toBe('login_required');
    // Somebody else, in the same browser.
    const other = await registered();
    const finish = await asking(tab);
    await logInAtService(tab, other);
    expect((await finish()).claims?.sub).toBe(other.id);
  });
});
