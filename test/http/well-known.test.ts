import { describe, expect, it } from 'vitest';
import { serviceStarter } from '../support/http/account.ts';

const start = serviceStarter();
const PASSWORD = '/.well-known/change-password';
const PASSKEYS = '/.well-known/passkey-endpoints';
const BASE_URL = 'https://auth.example.org/tandem';
const PRODUCT = { BASE_URL, ACCOUNT_PAGES_URL: 'https://app.example.org/account' };

describe('the page for a new password', () => {
  it.each([
    ['in the settings', { BASE_URL }, `${BASE_URL}/auth/account`],
    ['of the service', { BASE_URL, ACCOUNT_PAGES: 'off' }, `${BASE_URL}/auth/forgot`],
    ['of the application', { ...PRODUCT, ACCOUNT_PAGES: 'off' }, 'https://app.example.org/account/password-reset'],
  ])('is found by password managers: that %s', async (_whose, env, page) => {
    const { http } = await start(env);
    const { headers } = await http.get(PASSWORD).expect(303);
    expect(headers.location).toBe(page);
  });

  it('is not found where there is no mail with a link', async () => {
    const { http } = await start({ ACCOUNT_PAGES: 'off' }, { mailer: null });
    await http.get(PASSWORD).expect(404);
  });
});

describe('the page for passkeys', () => {
  it('is found by password managers if the service knows it', async () => {
    const page = 'https://app.example.org/settings?tab=passkeys';
    const { http } = await start({ PASSKEYS_PAGE_URL: page });
    const { body, headers } = await http.get(PASSKEYS).expect(200);
    expect(headers['content-type']).toBe('application/json');
    expect(body).toEqual({ enroll: page, manage: page });
  });

  it('is in the settings by default', async () => {
    const { body } = await (await start({ BASE_URL })).http.get(PASSKEYS).expect(200);
    expect(body.manage).toBe(`${BASE_URL}/auth/account/factors`);
  });

  it('is not found otherwise', async () => {
    const { http } = await start({ ACCOUNT_PAGES: 'off' });
    await http.get(PASSKEYS).expect(404);
  });
});

describe('the apps that use the passkeys', () => {
  const [ANDROID, APPLE] = ['/.well-known/assetlinks.json', '/.well-known/apple-app-site-association'];
  const FINGERPRINT = Array(32).fill('A1').join(':');
  const NATIVE_APPS = `android:com.a.b:${FINGERPRINT},apple:ABCDE12345.com.a.b`;
  const target = { namespace: 'android_app', package_name: 'com.a.b', sha256_cert_fingerprints: [FINGERPRINT] };

  it('are found by the systems of phones', async () => {
    const { http } = await start({ NATIVE_APPS });
    const { body, headers } = await http.get(ANDROID).expect(200);
    expect(headers['content-type']).toBe('application/json');
    expect(body).toEqual([{ relation: ['delegate_permission/common.get_login_creds'], target }]);
    const association = await http.get(APPLE).expect(200);
    expect(association.headers['content-type']).toBe('application/json');
    expect(association.body).toMatchObject({ webcredentials: { apps: ['ABCDE12345.com.a.b'] } });
  });

  it('claim the links at the host of the service', async () => {
    const APP_LINKS = 'https://auth.example.org/signed-in,https://app.example.org/x,com.a.b:/y';
    const { http } = await start({ BASE_URL, NATIVE_APPS, APP_LINKS, ACCOUNT_PAGES: 'on' });
    const [{ relation }] = (await http.get(ANDROID).expect(200)).body;
    expect(relation).toContain('delegate_permission/common.handle_all_urls');
    const details = [{ appIDs: ['ABCDE12345.com.a.b'], components: [{ '/': '/signed-in' }] }];
    expect((await http.get(APPLE).expect(200)).body.applinks).toEqual({ details });
  });

  it.each([
    ['apple:ABCDE12345.com.a.b', ANDROID],
    [`android:com.a.b:${FINGERPRINT}`, APPLE],
    ['', ANDROID],
    ['', APPLE],
  ])('are not found where there are none: %j, %s', async (apps, path) => {
    const { http } = await start({ NATIVE_APPS: apps });
    const { body } = await http.get(path).expect(404);
    expect(body.code).toBe('SYS_HTTP_UNEXPECTED_ERROR');
  });
});

describe('the issuer of access tokens', () => {
  const PATH = '/.well-known/oauth-authorization-server';

  it('is found by gateways, with its keys', async () => {
    const { http } = await start({ BASE_URL, JWT_ISSUER: 'https://auth.example.org' });
    const { body } = await http.get(PATH).expect(200);
    expect(body).toEqual({
      issuer: 'https://auth.example.org',
      jwks_uri: `${BASE_URL}/.well-known/jwks.json`,
      response_types_supported: [],
      grant_types_supported: [],
    });
    const binding = await start({ BASE_URL, JWT_ISSUER: 'https://auth.example.org', JWT_BINDING: 'on' });
    const dpop = { dpop_signing_alg_values_supported: ['ES256'] };
    expect((await binding.http.get(PATH)).body).toEqual({ ...body, ...dpop });
  });

  it('is not found if tokens name none', async () => {
    const { http } = await start();
    await http.get(PATH).expect(404);
  });
});
