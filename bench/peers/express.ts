import cookieParser from 'cookie-parser';
import cors from 'cors';
import express, { type Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import { Redis } from 'ioredis';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import { type LoginResult, openAccounts } from './accounts.ts';
import { HOST, port, RATE_LIMIT, REFRESH_LIFETIME_SECONDS, redisUrl } from './environment.ts';
import { jsonwebtokenTokens } from './tokens/jsonwebtoken.ts';

const COOKIE = {
  httpOnly: true,
  path: '/auth',
  sameSite: 'lax',
  maxAge: REFRESH_LIFETIME_SECONDS * 1_000,
  secure: true,
} as const;

const accounts = await openAccounts(jsonwebtokenTokens());
const redis = new Redis(redisUrl());

const unauthorized = (response: Response) => void response.status(401).json({ error: 'Unauthorized' });
const loggedIn = (response: Response, result: LoginResult | null, status = 200) => {
  if (result === null) return unauthorized(response);
  const { refreshToken, ...body } = result;
  response.status(status).cookie('refresh_token', refreshToken, COOKIE).json(body);
};

/** Express with the middleware that its guide to production names. */
const app = express();
app.use(helmet());
app.use(cors({ origin: ['https://app.example.org'], credentials: true }));
app.use(cookieParser());
app.use(
  rateLimit({
    limit: RATE_LIMIT.max,
    windowMs: RATE_LIMIT.window * 1_000,
    store: new RedisStore({
      sendCommand: (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<RedisReply>,
    }),
  }),
);
app.use(express.json());

app.post('/auth/register', async ({ body }, response) => loggedIn(response, await accounts.register(body), 201));
app.post('/auth/login', async ({ body }, response) => loggedIn(response, await accounts.logIn(body)));
app.post('/auth/refresh-token', async ({ cookies }, response) => {
  const result = await accounts.refresh(cookies.refresh_token ?? '');
  if (result === null) return unauthorized(response);
  response.cookie('refresh_token', result.refreshToken, COOKIE).json({ accessToken: result.accessToken });
});
app.get('/auth/session', ({ headers }, response) => {
  const claims = accounts.authenticate(headers.authorization);
  if (claims === null) return unauthorized(response);
  response.json({ authenticated: true, user: claims.user });
});
app.get('/users/me', async ({ headers }, response) => {
  const claims = accounts.authenticate(headers.authorization);
  const user = claims === null ? null : await accounts.find(claims.sub);
  if (user === null) return unauthorized(response);
  response.json(user);
});
app.listen(port(), HOST);
