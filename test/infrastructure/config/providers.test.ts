import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { blamed, type Env, problemsOf } from '../../support/config-problems.ts';
import { PRODUCTION } from '../../support/processes/environments.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();

const GOOGLE = { OIDC_GOOGLE_CLIENT_ID: 'tandem', OIDC_GOOGLE_CLIENT_SECRET: 'secret' };
const ACME = {
  OIDC_ACME_ID_ISSUER: 'https://id.acme.example',
  OIDC_ACME_ID_CLIENT_ID: '"tandem"',
  OIDC_ACME_ID_CLIENT_SECRET: 'secret',
};

describe('the providers', () => {
  it('have the variables of their names, and presets', () => {
    const path = join(directory.path, 'secret');
    writeFileSync(path, 'of a file\n'.replaceAll(' ', '-'));
    const { OIDC_ACME_ID_CLIENT_SECRET: _secret, ...acme } = ACME;
    const { providers } = parseConfig({
      ...{ OIDC_PROVIDERS: 'google, acme-id', OIDC_SERVICE_HOST: 'of-a-neighbour' },
      ...{ ...GOOGLE, ...acme, OIDC_ACME_ID_CLIENT_SECRET_FILE: path, OIDC_ACME_ID_SCOPES: 'openid mail' },
    });
    const common = { protocol: 'openid', formPost: false, clientId: 'tandem' };
    expect(providers).toEqual([
      {
        ...{ ...common, name: 'google', title: 'Google', issuer: 'https://accounts.google.com' },
        ...{ clientSecret: 'secret', scopes: ['openid', 'email'] },
      },
      {
        ...{ ...common, name: 'acme-id', title: 'Acme id', issuer: 'https://id.acme.example/' },
        ...{ clientSecret: 'of-a-file', scopes: ['openid', 'mail'] },
      },
    ]);
  });

  it.each<[string, Env, string[]]>([
    ['lack a variable', { OIDC_PROVIDERS: 'google', OIDC_GOOGLE_CLIENT_ID: 'x' }, ['OIDC_GOOGLE_CLIENT_SECRET']],
    ['lack an issuer', { OIDC_PROVIDERS: 'acme-id', ...ACME, OIDC_ACME_ID_ISSUER: '' }, ['OIDC_ACME_ID_ISSUER']],
    [
      'have no key of Apple',
      { OIDC_PROVIDERS: 'apple', OIDC_APPLE_CLIENT_ID: 'x', OIDC_APPLE_CLIENT_SECRET: 'x' },
      ['OIDC_APPLE_TEAM_ID', 'OIDC_APPLE_KEY_ID', 'OIDC_APPLE_PRIVATE_KEY', 'OIDC_APPLE_CLIENT_SECRET'],
    ],
    ['are not named', { OIDC_PROVIDERS: 'acme-id', ...ACME, ...GOOGLE }, Object.keys(GOOGLE)],
    ['are not named at all', GOOGLE, Object.keys(GOOGLE)],
    [
      'have a variable that is misspelt',
      { OIDC_PROVIDERS: 'google', ...GOOGLE, OIDC_GOOGLE_SCOPE: 'openid' },
      ['OIDC_GOOGLE_SCOPE'],
    ],
    ...['http://id.acme.example', 'id.acme.example', 'https://a:b@id.acme.example', 'https://id.acme.example/#a'].map(
      (issuer): [string, Env, string[]] => [
        `have the issuer ${issuer}`,
        { OIDC_PROVIDERS: 'acme-id', ...ACME, OIDC_ACME_ID_ISSUER: issuer },
        ['OIDC_ACME_ID_ISSUER'],
      ],
    ),
    [
      'have a secret with a space',
      { OIDC_PROVIDERS: 'google', ...GOOGLE, OIDC_GOOGLE_CLIENT_SECRET: 'a b' },
      ['OIDC_GOOGLE_CLIENT_SECRET'],
    ],
  ])('are refused when they %s', (_name, env, names) => {
    expect(blamed(env)).toEqual(names);
    expect(problemsOf(env).join()).not.toContain('a b');
  });

  it('is called as its variable says', () => {
    const { providers } = parseConfig({ OIDC_PROVIDERS: 'acme-id', ...ACME, OIDC_ACME_ID_TITLE: 'Büro & Söhne' });
    expect(providers).toEqual([expect.objectContaining({ name: 'acme-id', title: 'Büro & Söhne' })]);
  });

  it('may have an http issuer on this machine, but not in production', () => {
    const env = { OIDC_PROVIDERS: 'acme-id', ...ACME, OIDC_ACME_ID_ISSUER: 'http://127.0.0.1:4444' };
    expect(blamed(env)).toEqual([]);
    const production = { ...PRODUCTION, BASE_URL: 'https://auth.example.com' };
    expect(problemsOf({ ...production, ...env })).toEqual(['OIDC_ACME_ID_ISSUER: must be https in production']);
  });
});
