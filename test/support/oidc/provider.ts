import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Context, Next } from 'koa';
// @ts-expect-error: the package has no types
import OidcProvider from 'oidc-provider';
import { listenOnLoopback } from '../listen.ts';

/** What the provider says about whoever logs in to it. */
type ProviderAccount = {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly [claim: string]: unknown;
};

type Members = Record<string, unknown>;

/** How it behaves; each may be changed at any time. */
export type ProviderSwitches = {
  /** `page`: two buttons, `#log-in` and `#cancel`. The others are as if one of them had been pressed. */
  answer: 'page' | 'log-in' | 'cancel';
  account: ProviderAccount;
  /** Changes the discovered document. */
  discovery: (document: Members) => Members;
  /** Changes the claims of the ID token, which is signed after that. It has no address of itself: UserInfo has it. */
  idToken: (claims: JWTPayload) => JWTPayload;
  /** Changes what UserInfo says. */
  userInfo: (claims: Members) => Members;
  /** Whether the signature is by a key that is not in the key set. */
  forges: boolean;
  /** Changes the address to which it sends the browser back: `iss`, `state`, `code`. */
  callback: (url: URL) => void;
  /** Paths whose answers come late, by milliseconds, never end, or are an error of the server. */
  faults: Readonly<Record<string, number | 'endless' | 'error'>>;
};

/** The client that the provider asks for `client_secret_post`, and the one that it asks for `client_secret_basic`. */
export const CLIENT = { id: 'tandem', secret: 'a-secret-of-the-test' } as const;
export const BASIC_CLIENT = { id: 'tandem-basic:1', secret: 'a:secret+of/the-test%' } as const;
const ADA: ProviderAccount = { sub: 'subject-of-ada', email: 'ada@example.org', email_verified: true };

const behaving = (): ProviderSwitches => ({
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
 * A real OpenID provider on a port of the loopback address, for the client `CLIENT` with any callback. Each sign-in asks anew, and
 * `switches` say how it misbehaves.
 */
export const startProvider = async () => {
  const switches = behaving();
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
  // The port of the service is not known yet.
  provider.Client.prototype.redirectUriAllowed = () => true;
  provider.use(async (ctx: Context, next: Next) => {
    // Nobody stays logged in here: whoever signs in again is asked again, and may be somebody else.
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
    // A page of an earlier sign-in, to which a browser has gone back.
    const refuse = (error: Error) => response.writeHead(400).end(`provider: ${error.message}`);
    await provider.interactionFinished(request, response, result).catch(refuse);
  };
  return {
    issuer,
    switches,
    /** The paths that were asked for, in order. */
    hits,
    /** Behaves again. */
    reset: (): void => {
      Object.assign(switches, behaving());
    },
    replaceKeys: async (): Promise<void> => {
      key = await newKey();
    },
    /** Nothing listens any more, until `start`. */
    close: (): Promise<void> => listening.close(),
    start: async (): Promise<void> => {
      listening = await listenOnLoopback(server, port);
    },
  };
};

export type TestProvider = Awaited<ReturnType<typeof startProvider>>;

/** Goes the way of a browser, from the address of a sign-in to the callback, to which it does not go. Pages are not for it: see `answer`. */
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

/** JSON without an end, as fast as it is read. */
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
