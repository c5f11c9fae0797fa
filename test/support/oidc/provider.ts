import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Context, Next } from 'koa';
// @ts-expect-error: the package has no types
import OidcProvider from 'oidc-provider';
import { listenOnLoopback } from '../listen.ts';

/** The claims of the account that logs in at the provider. */
type ProviderAccount = {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly [claim: string]: unknown;
};

type Members = Record<string, unknown>;

/** How the provider behaves. A test may change each member at any time. */
export type ProviderSwitches = {
  /** `page` shows two buttons, `#log-in` and `#cancel`. The other values act as if that button had been pressed. */
  answer: 'page' | 'log-in' | 'cancel';
  account: ProviderAccount;
  /** Changes the discovery document. */
  discovery: (document: Members) => Members;
  /** Changes the claims of the ID token before it is signed. Unchanged, the token has no email address; UserInfo has it. */
  idToken: (claims: JWTPayload) => JWTPayload;
  /** Changes the claims in UserInfo. */
  userInfo: (claims: Members) => Members;
  /** Whether the provider signs with a key that is not in its key set. */
  forges: boolean;
  /** Changes the callback URL to which the provider redirects the browser, with `iss`, `state` and `code`. */
  callback: (url: URL) => void;
  /** By path: the milliseconds by which the answer is late, an answer without an end, or an error 500. */
  faults: Readonly<Record<string, number | 'endless' | 'error'>>;
};

/** The client that authenticates by `client_secret_post`. `BASIC_CLIENT` authenticates by `client_secret_basic`. */
export const CLIENT = { id: 'tandem', secret: 'a-secret-of-the-test' } as const;
export const BASIC_CLIENT = { id: 'tandem-basic:1', secret: 'a:secret+of/the-test%' } as const;
const ADA: ProviderAccount = { sub: 'subject-of-ada', email: 'ada@example.org', email_verified: true };

const defaultSwitches = (): ProviderSwitches => ({
  answer: 'log-in',
  account: ADA,
  discovery: (document) => document,
  idToken: (claims) => claims,
  userInfo: (claims) => claims,
  forges: false,
  callback: () => undefined,
  faults: {},
});

const newKey = async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const { d: _private, ...rest } = jwk;
  const kid = crypto.randomUUID();
  const common = { kid, alg: 'ES256', use: 'sig' };
  return { privateKey, kid, jwk: { ...jwk, ...common }, publicJwk: { ...rest, ...common } };
};

/**
 * Starts a real OpenID provider on a port of the loopback address. It accepts any callback URL, keeps nobody logged in, and
 * behaves as `switches` says.
 */
export const startProvider = async () => {
  const switches = defaultSwitches();
  let key = await newKey();
  const hits: string[] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) => {
    answer(request, response);
  });
  let listening = await listenOnLoopback(server);
  const { port } = listening;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new OidcProvider(issuer, configurationOf(switches, key.jwk));
  // The provider cannot know the callback URL, because the service has no port yet.
  provider.Client.prototype.redirectUriAllowed = () => true;
  provider.use(async (ctx: Context, next: Next) => {
    // Removes the session cookies, so that each sign-in asks for a log-in, maybe of another account.
    const isOfSignIn = (cookie: string) => !cookie.startsWith('_session');
    ctx.req.headers.cookie = ctx.get('Cookie').split('; ').filter(isOfSignIn).join('; ');
    await next();
    const location = ctx.response.get('Location');
    if (ctx.path.startsWith('/auth') && URL.parse(location)?.searchParams.has('state')) {
      const url = new URL(location);
      switches.callback(url);
      ctx.set('Location', url.href);
    }
    if (ctx.path === '/.well-known/openid-configuration') ctx.body = switches.discovery(ctx.body as Members);
    if (ctx.path === '/me' && ctx.status === 200) ctx.body = switches.userInfo(ctx.body as Members);
    if (ctx.path === '/jwks') ctx.body = { keys: [key.publicJwk] };
    const { id_token: idToken } = Object(ctx.body) as { id_token?: string };
    if (ctx.path !== '/token' || idToken === undefined) return;
    const { privateKey } = switches.forges ? await newKey() : key;
    const signed = new SignJWT(switches.idToken(decodeJwt(idToken))).setProtectedHeader({ alg: 'ES256', kid: key.kid });
    ctx.body = { ...(ctx.body as Members), id_token: await signed.sign(privateKey) };
  });
  const standard = provider.callback();
  answer = async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer);
    hits.push(pathname);
    const fault = switches.faults[pathname];
    if (fault === 'error') return response.writeHead(500).end();
    if (fault === 'endless') return endless(response);
    if (fault !== undefined) await pause(fault, undefined, { ref: false });
    if (!pathname.startsWith('/interaction/')) return standard(request, response);
    const [, , , pressed = switches.answer] = pathname.split('/');
    if (pressed === 'page') return response.setHeader('Content-Type', 'text/html').end(pageOf(pathname));
    const result =
      pressed === 'cancel'
        ? { error: 'access_denied', error_description: 'the user has cancelled' }
        : { login: { accountId: switches.account.sub } };
    // The provider refuses if the browser has gone back to a page of an earlier sign-in.
    const refuse = (error: Error) => response.writeHead(400).end(`provider: ${error.message}`);
    await provider.interactionFinished(request, response, result).catch(refuse);
  };
  return {
    issuer,
    switches,
    /** The requested paths, in order. */
    hits,
    /** Sets the switches back. */
    reset: (): void => {
      Object.assign(switches, defaultSwitches());
    },
    replaceKeys: async (): Promise<void> => {
      key = await newKey();
    },
    /** Stops listening until `start` is called. */
    close: (): Promise<void> => listening.close(),
    start: async (): Promise<void> => {
      listening = await listenOnLoopback(server, port);
    },
  };
};

export type TestProvider = Awaited<ReturnType<typeof startProvider>>;

/** Follows the redirects of a sign-in. @returns the callback URL, unopened @throws Error if the provider shows a page */
export const walkToCallback = async (authorization: string): Promise<URL> => {
  const jar = new Map<string, string>();
  let url = new URL(authorization);
  const { origin } = url;
  while (url.origin === origin) {
    const cookie = [...jar].map((each) => each.join('=')).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get('Location');
    if (location === null) throw new Error(`the provider answers ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
  }
  return url;
};

const configurationOf = (switches: ProviderSwitches, jwk: object) => ({
  clients: [
    { ...CLIENT, method: 'client_secret_post' },
    { ...BASIC_CLIENT, method: 'client_secret_basic' },
  ].map(({ id, secret, method }) => ({
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: method,
    redirect_uris: ['http://localhost/callback'],
    id_token_signed_response_alg: 'ES256',
  })),
  jwks: { keys: [jwk] },
  cookies: { keys: ['a key of the test'] },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  findAccount: (_ctx: unknown, accountId: string) => ({
    accountId,
    claims: () => ({ ...switches.account, sub: accountId }),
  }),
  // Nobody is asked for consent.
  loadExistingGrant: async ({
    oidc,
  }: {
    oidc: { provider: typeof OidcProvider; client: Members; session: Members };
  }) => {
    const { clientId } = oidc.client;
    const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid email profile');
    await grant.save();
    return grant;
  },
  ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
});

const pageOf = (path: string): string => `<!doctype html><html lang="en"><title>The provider</title>
<form method="post" action="${path}/log-in"><button id="log-in">Log in</button></form>
<form method="post" action="${path}/cancel"><button id="cancel">Cancel</button></form>`;

/** Sends JSON that never ends, as fast as the client reads it. */
const endless = (response: ServerResponse): void => {
  response.setHeader('Content-Type', 'application/json');
  response.write('{"issuer":"');
  const chunk = 'x'.repeat(65_536);
  const fill = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', fill);
  fill();
};
