import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { interactionPolicy, Provider } from 'oidc-provider';
import { createServerAuth, followEndedSessions } from 'tandem-client/server';

const { ISSUER = 'http://localhost:4000', PORT = '4000', SERVICE = 'http://localhost:3000' } = process.env;
const { REDIRECT_URI = 'http://localhost:5000/callback', CLIENT_SECRET = 'for development' } = process.env;
const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = process.env;

const onError = ({ message }) => process.stderr.write(`${message}\n`);
const endedSessions = followEndedSessions({ baseUrl: SERVICE, issuer, onError });
const auth = createServerAuth({ baseUrl: SERVICE, origin: ISSUER, issuer, audience, endedSessions });
const requestOf = (ctx) => new Request(new URL(ctx.originalUrl, ISSUER), { headers: ctx.headers });

/** Of the session of Tandem in the browser: its id, and the claims of the access token, which `getUser` has verified. */
const visitorOf = async (ctx) => {
  if (!(await auth.getUser(requestOf(ctx)))) return null;
  const [, ...parts] = /access_token=([^.]+)\.([^.]+)/.exec(ctx.get('Cookie'));
  const [{ sid }, claims] = parts.map((part) => JSON.parse(Buffer.from(part, 'base64url')));
  return { ...claims, sid };
};

/** What userinfo tells of each user, and a grant for each session of Tandem and client: in memory, as all that oidc-provider stores here. */
const [accounts, grants] = [new Map(), new Map()];

const policy = interactionPolicy.base();
// Who is logged in here is who is logged in at Tandem.
const isSomebodyElse = async (ctx) => (await visitorOf(ctx))?.sub !== ctx.oidc.session.accountId;
const check = new interactionPolicy.Check('tandem', 'not logged in at Tandem', 'login_required', isSomebodyElse);
policy.get('login').checks.add(check);
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const client = {
  client_id: 'app',
  client_secret: CLIENT_SECRET,
  redirect_uris: [REDIRECT_URI],
  post_logout_redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  id_token_signed_response_alg: 'ES256',
};
const openid = ['sub', 'auth_time', 'acr', 'amr'];
const logOut = (ctx) => auth.linkTo('log-out', requestOf(ctx), { to: ctx.oidc.params.post_logout_redirect_uri });
const provider = new Provider(ISSUER, {
  clients: [client],
  jwks: { keys: [{ ...key, alg: 'ES256', use: 'sig' }] },
  cookies: { keys: [randomBytes(32).toString('hex')] },
  claims: { openid, profile: ['preferred_username'], email: ['email', 'email_verified'] },
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { logoutSource: (ctx) => ctx.redirect(logOut(ctx)) },
  },
  interactions: { policy, url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, sub) => accounts.has(sub) && { accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) },
  issueRefreshToken: (_ctx, { grantTypes }) => grantTypes.includes('refresh_token'),
  // The clients are our own: nobody is asked for consent.
  loadExistingGrant: async (ctx) => {
    const [visitor, { clientId }] = [await visitorOf(ctx), ctx.oidc.client];
    if (visitor?.sub !== ctx.oidc.session.accountId) return;
    const id = `${visitor.sid} ${clientId}`;
    const grant = grants.get(id)?.grant ?? new provider.Grant({ accountId: visitor.sub, clientId });
    grant.addOIDCScope('openid profile email');
    await grant.save();
    grants.set(id, { grant, visitor });
    return grant;
  },
});

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  const { prompt, iat } = await provider.interactionDetails(ctx.req, ctx.res);
  const request = requestOf(ctx);
  const user = await auth.requireUser(request);
  if (user instanceof Response) {
    ctx.set(Object.fromEntries(user.headers));
    [ctx.status, ctx.body] = [user.status, await user.text()];
    return;
  }
  const { auth_time: ts, acr, amr } = await visitorOf(ctx);
  const again = prompt.reasons.some((reason) => reason === 'login_prompt' || reason === 'max_age');
  if (again && !(ts >= iat)) return ctx.redirect(auth.linkTo('log-out', request));
  const response = await auth.signedInFetch(request, `${SERVICE}/users/me`);
  const { username: preferred_username, email, emailVerified: email_verified } = (await response.json()).data;
  accounts.set(user.id, { preferred_username, email, email_verified });
  const result = { login: { accountId: user.id, ts, acr, amr }, consent: {} };
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
});
provider.listen(Number(PORT));
// With a session of Tandem end its grants, and so the tokens of clients.
setInterval(async () => {
  for (const [id, { grant, visitor }] of grants)
    if (endedSessions.isEnded(visitor) && grants.delete(id)) await grant.destroy();
}, 1_000);
