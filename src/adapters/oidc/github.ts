import * as client from 'openid-client';
import * as v from 'valibot';
import { LoggableError } from '../log/redact-error.ts';
import { addressFrom, CLIENT_METADATA, CLIENT_OPTIONS, ProviderUnreachable } from './requests.ts';
import type { Protocol, ProviderSettings } from './settings.ts';

const URLS = {
  authorization_endpoint: 'https://github.com/login/oauth/authorize',
  token_endpoint: 'https://github.com/login/oauth/access_token',
};
const API_URL = 'https://api.github.com';

/** Of GitHub's user, only `id` identifies the account: the user can change the login, and then another user can take it. */
const GitHubUser = v.object({ id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) });
const GitHubEmails = v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() }));

/** Replaces the status of OAuth's errors: GitHub sends them with 200, and openid-client expects 400. */
const fetchFromGitHub: client.CustomFetch = async (url, options) => {
  const response = await CLIENT_OPTIONS[client.customFetch](url, options);
  if (url !== URLS.token_endpoint) return response;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  const { headers } = response;
  return Object(body).error === undefined ? response : new Response(response.body, { status: 400, headers });
};

/** The error for a failed request. The status 403 may mean that a limit of the application or the user is reached ("Rate limits for the REST API"). */
const requestError = ({ status, headers }: Response): Error => {
  const isLimited = status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after'));
  const text = `GitHub has answered with the status ${status}`;
  return isLimited ? new ProviderUnreachable(`${text}, by its limit of requests`) : new LoggableError(text);
};

/** GitHub has OAuth 2.0 without OpenID Connect, so there is no signed ID token. GitHub's API says, over TLS, whose access token it is. */
export const gitHub = ({ issuer, clientId, clientSecret }: ProviderSettings): Protocol => {
  const configuration = new client.Configuration({ issuer, ...URLS }, clientId, {
    ...CLIENT_METADATA,
    ...(typeof clientSecret === 'string' && { client_secret: clientSecret }),
  });
  configuration.timeout = CLIENT_OPTIONS.timeout;
  configuration[client.customFetch] = fetchFromGitHub;
  const get = async (accessToken: string, path: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/vnd.github+json' });
    const url = new URL(API_URL + path);
    const response = await client.fetchProtectedResource(configuration, accessToken, url, 'GET', null, headers);
    if (!response.ok) throw requestError(response);
    return response.json();
  };
  return {
    configuration: async () => configuration,
    onSignInEnd: () => undefined,
    hasIdToken: false,
    clientMethod: () => 'client_secret_post',
    identityOf: async (_configuration, { access_token: accessToken }) => {
      const { id } = v.parse(GitHubUser, await get(accessToken, '/user'));
      const address = await addressFrom(async () => {
        const emails = v.parse(GitHubEmails, await get(accessToken, '/user/emails'));
        const primary = emails.find((each) => each.primary);
        return { email: primary?.email ?? null, isEmailVerified: primary?.verified ?? false };
      });
      return { issuer, subject: `${id}`, ...address };
    },
  };
};
