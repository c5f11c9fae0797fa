import { describe, expect, it } from 'vitest';
import { type CookieFacts, cookieFindings } from '../../../../src/infrastructure/doctor/checks/cookie.ts';

type Given = {
  readonly base?: string;
  readonly origins?: readonly string[];
  readonly sameSite?: 'lax' | 'strict' | 'none';
  readonly secure?: boolean;
  readonly environment?: CookieFacts['environment'];
  readonly isBaseUrlSet?: boolean;
  readonly pageOrigins?: CookieFacts['pageOrigins'];
};

const findings = ({
  base = 'https://auth.example.com',
  origins = ['https://app.example.com'],
  sameSite = 'lax',
  secure = true,
  environment = 'production',
  isBaseUrlSet = true,
  pageOrigins = [],
}: Given) =>
  cookieFindings({
    environment,
    baseUrl: base,
    isBaseUrlSet,
    pageOrigins,
    allowedOrigins: origins,
    allowedOriginsSetting: environment === 'production' ? 'ALLOWED_ORIGINS_PROD' : 'ALLOWED_ORIGINS_DEV',
    refreshCookie: { sameSite, secure },
  });
const brief = (given: Given) => findings(given).map(({ id, severity }) => `${severity} ${id}`);

const LOCAL = { base: 'http://localhost:3000', secure: false, environment: 'development' } as const;

describe('the doctor on the cookie', () => {
  // Proves: operator-7
  it.each<[string, Given, string[]]>([
    ['one site', {}, ['ok cookie.same-site']],
    ['one site, one origin', { origins: ['https://auth.example.com'] }, ['ok cookie.same-site']],
    [
      'one registrable domain of two labels',
      { base: 'https://auth.example.co.uk', origins: ['https://example.co.uk'] },
      ['ok cookie.same-site'],
    ],
    ['other ports', { ...LOCAL, origins: ['http://localhost:5173'] }, ['ok cookie.same-site']],
    ['one address', { ...LOCAL, base: 'http://[::1]:3000', origins: ['http://[::1]:5173'] }, ['ok cookie.same-site']],
    ['another domain', { origins: ['https://app.example.org'] }, ['problem cookie.other-site']],
    [
      'a common public suffix only',
      { base: 'https://a.co.uk', origins: ['https://b.co.uk'] },
      ['problem cookie.other-site'],
    ],
    [
      'a common private suffix only',
      { base: 'https://a.github.io', origins: ['https://b.github.io'] },
      ['problem cookie.other-site'],
    ],
    ['another address', { base: 'https://10.0.0.1', origins: ['https://10.0.0.2'] }, ['problem cookie.other-site']],
    ['two names of the loopback', { ...LOCAL, origins: ['http://127.0.0.1:5173'] }, ['problem cookie.loopback-names']],
    ['a page without TLS', { origins: ['http://app.example.com'] }, ['problem cookie.other-scheme']],
    [
      'a page with TLS, a service without',
      { base: 'http://auth.example.com', secure: false, environment: 'development' },
      ['problem cookie.mixed-content'],
    ],
    [
      'another domain, SameSite=None',
      { origins: ['https://app.example.org'], sameSite: 'none' },
      ['warning cookie.third-party'],
    ],
    [
      'one of each',
      { origins: ['https://app.example.com', 'https://app.example.org'] },
      ['ok cookie.same-site', 'problem cookie.other-site'],
    ],
    [
      'a Secure cookie over http',
      { base: 'http://auth.example.com', origins: ['http://app.example.com'] },
      ['problem cookie.secure-over-http', 'ok cookie.same-site'],
    ],
    [
      'a Secure cookie on the loopback',
      { ...LOCAL, secure: true, origins: ['http://localhost'] },
      ['note cookie.secure-on-loopback', 'ok cookie.same-site'],
    ],
    [
      'a cookie that is not Secure',
      { secure: false, environment: 'development' },
      ['warning cookie.not-secure', 'ok cookie.same-site'],
    ],
    ['no origin', { origins: [] }, ['note cookie.no-origins']],
    ['an unknown address', { isBaseUrlSet: false }, ['note cookie.unknown']],
  ])('%s', (_what, given, expected) => {
    expect(brief(given)).toEqual(expected);
  });

  it.each([
    ['without pages of its own', [], /^No origin is allowed: .*, even those of the service’s own address\.$/],
    [
      'with pages of its own',
      ['http://localhost:3000', 'http://127.0.0.1:3000'],
      /^Only the origins of the service’s own pages are allowed \(http:\/\/localhost:3000, http:\/\/127\.0\.0\.1:3000\): other/,
    ],
  ])('says which pages may call a service that lists none, %s', (_what, pageOrigins, expected) => {
    expect(findings({ ...LOCAL, origins: [], pageOrigins }).map(({ seen }) => seen)).toEqual([
      expect.stringMatching(expected),
    ]);
  });

  it('names the two sites, and what to use instead', () => {
    const [finding] = findings({ ...LOCAL, origins: ['http://127.0.0.1:5173'] });
    expect(finding?.seen).toContain('http://127.0.0.1:5173 and http://localhost:3000 are two sites');
    expect(finding?.advice).toContain('open the page at localhost');
  });
});
