import { describe, expect, it } from 'vitest';
import { cookie } from '../../../src/infrastructure/commands/doctor/cookie.ts';
import { brief, setUpOf } from '../../support/doctor.ts';

const production = (base: string, ...origins: readonly string[]) => ({
  NODE_ENV: 'production',
  BASE_URL: base,
  ALLOWED_ORIGINS_PROD: origins.join(),
});
const local = (base: string, ...origins: readonly string[]) => ({
  BASE_URL: base,
  ALLOWED_ORIGINS_DEV: origins.join(),
  JWT_REFRESH_COOKIE_SECURE: 'false',
});
const SECURE = { JWT_REFRESH_COOKIE_SECURE: 'true' };
const NONE = { JWT_REFRESH_COOKIE_SAME_SITE: 'none' };
const AUTH = 'https://auth.example.com';

describe('the doctor on the cookie', () => {
  it.each<[string, Readonly<Record<string, string>>, string[]]>([
    ['one site, one origin', production(AUTH, AUTH), ['ok cookie.same-site']],
    ['two labels', production('https://auth.example.co.uk', 'https://example.co.uk'), ['ok cookie.same-site']],
    ['other ports', local('http://localhost:3000', 'http://localhost:5173'), ['ok cookie.same-site']],
    ['one address', local('http://[::1]:3000', 'http://[::1]:5173'), ['ok cookie.same-site']],
    ['another domain', production(AUTH, 'https://app.example.org'), ['problem cookie.other-site']],
    ['a public suffix', production('https://a.co.uk', 'https://b.co.uk'), ['problem cookie.other-site']],
    ['a private suffix', production('https://a.github.io', 'https://b.github.io'), ['problem cookie.other-site']],
    ['another address', production('https://10.0.0.1', 'https://10.0.0.2'), ['problem cookie.other-site']],
    ['two loopbacks', local('http://localhost:3000', 'http://127.0.0.1:5173'), ['problem cookie.other-site']],
    ['a page without TLS', production(AUTH, 'http://app.example.com'), ['problem cookie.other-scheme']],
    [
      'TLS for the page alone',
      local('http://auth.example.com', 'https://app.example.com'),
      ['problem cookie.mixed-content'],
    ],
    ['SameSite=None', { ...production(AUTH, 'https://app.example.org'), ...NONE }, ['warning cookie.third-party']],
    [
      'one of each',
      production(AUTH, 'https://app.example.com', 'https://app.example.org'),
      ['ok cookie.same-site', 'problem cookie.other-site'],
    ],
    [
      'a Secure cookie over http',
      { ...local('http://auth.example.com', 'http://app.example.com'), ...SECURE },
      ['problem cookie.secure-over-http', 'ok cookie.same-site'],
    ],
    [
      'a Secure cookie on the loopback',
      { ...local('http://localhost:3000', 'http://localhost'), ...SECURE },
      ['note cookie.secure-on-loopback', 'ok cookie.same-site'],
    ],
    ['no origin', production(AUTH), ['note cookie.no-origins']],
    ['an app', production(AUTH, 'capacitor://localhost'), ['note cookie.program']],
    ['an unknown address', { NODE_ENV: 'production' }, ['note cookie.unknown']],
  ])('%s', (_what, env, expected) => {
    expect(brief(cookie(setUpOf(env)))).toEqual(expected);
  });
});
