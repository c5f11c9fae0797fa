import type { ProviderSettings } from '../../adapters/oidc/settings.ts';
import { brandName } from './account-variables.ts';
import { type Format, formatOf, textFormat } from './formats.ts';
import { privateKey } from './keys.ts';
import { issuerUrl } from './urls.ts';
import { type Env, isOfOtherService } from './variables.ts';

const visibleAscii = textFormat('1 to 500 visible ASCII characters', (text) => /^[!-~]{1,500}$/.test(text));
const scopes = formatOf<readonly string[]>('names of scopes, separated by spaces', (text) =>
  /^[!-~]{1,100}(?: [!-~]{1,100}){0,19}$/.test(text) ? text.split(' ') : undefined,
);

/** The formats of the variables `OIDC_<NAME>_…` of a provider, by the last part of their names. */
const FORMATS = {
  ISSUER: issuerUrl,
  CLIENT_ID: visibleAscii,
  CLIENT_SECRET: visibleAscii,
  SCOPES: scopes,
  TITLE: brandName,
  TEAM_ID: visibleAscii,
  KEY_ID: visibleAscii,
  PRIVATE_KEY: privateKey,
} as const;
type Member = keyof typeof FORMATS;
type Members = { readonly [Name in Member]?: (typeof FORMATS)[Name] extends Format<infer Value> ? Value : never };

/** Variables without a default. ISSUER is not among them, since some presets have an issuer. */
const REQUIRED: readonly Member[] = ['CLIENT_ID', 'CLIENT_SECRET', 'TEAM_ID', 'KEY_ID', 'PRIVATE_KEY'];

type Preset = Partial<Pick<ProviderSettings, 'title' | 'issuer' | 'protocol' | 'formPost' | 'scopes'>> & {
  readonly members?: readonly Member[];
};
const PRESETS = new Map<string, Preset>([
  ['google', { issuer: 'https://accounts.google.com' }],
  // `common` accepts users of any tenant. The ID token has the issuer of the user's tenant.
  ['microsoft', { issuer: 'https://login.microsoftonline.com/common/v2.0' }],
  [
    'apple',
    {
      issuer: 'https://appleid.apple.com',
      // Apple sends the browser back by POST if the email address is requested.
      formPost: true,
      members: ['ISSUER', 'CLIENT_ID', 'SCOPES', 'TEAM_ID', 'KEY_ID', 'PRIVATE_KEY'],
    },
  ],
  [
    'github',
    {
      title: 'GitHub',
      issuer: 'https://github.com',
      protocol: 'github',
      scopes: ['read:user', 'user:email'],
      members: ['CLIENT_ID', 'CLIENT_SECRET'],
    },
  ],
]);
const OPEN_ID_MEMBERS: readonly Member[] = ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'SCOPES'];

const variableOf = (provider: string, member: Member): string =>
  `OIDC_${provider.toUpperCase().replaceAll('-', '_')}_${member}`;

/** The providers of OIDC_PROVIDERS, and a line for each variable `OIDC_…` that is invalid, missing or unknown: an unknown one may be misspelt. */
export const readProviders = (env: Env, names: readonly string[], isProduction: boolean) => {
  const problems: string[] = [];
  const knownNames = new Set(['OIDC_PROVIDERS']);
  const providers = names.map((name): ProviderSettings => {
    const preset: Preset = PRESETS.get(name) ?? {};
    const { members = OPEN_ID_MEMBERS, protocol = 'openid', formPost = false } = preset;
    const values: Record<string, unknown> = {};
    for (const member of [...members, 'TITLE'] as const) {
      const variable = variableOf(name, member);
      const { expected, parse } = FORMATS[member];
      knownNames.add(variable).add(`${variable}_FILE`);
      const text = env[variable];
      const isRequired = REQUIRED.includes(member) || (member === 'ISSUER' && preset.issuer === undefined);
      if (!text && isRequired) problems.push(`${variable}: required by OIDC_PROVIDERS`);
      if (!text) continue;
      values[member] = parse(text);
      if (values[member] === undefined) problems.push(`${variable}: expected ${expected}`);
      if (isProduction && member === 'ISSUER' && text.startsWith('http:'))
        problems.push(`${variable}: must be https in production`);
    }
    // The cast: `values` has the outputs of the formats. If a required one is missing, the service does not start.
    const { ISSUER, CLIENT_ID = '', CLIENT_SECRET = '', SCOPES, TEAM_ID, KEY_ID, PRIVATE_KEY } = values as Members;
    const { TITLE: title = preset.title ?? titleOf(name) } = values as Members;
    return {
      ...{ name, title, protocol, formPost },
      issuer: ISSUER ?? preset.issuer ?? '',
      clientId: CLIENT_ID,
      clientSecret:
        TEAM_ID && KEY_ID && PRIVATE_KEY ? { teamId: TEAM_ID, keyId: KEY_ID, privateKey: PRIVATE_KEY } : CLIENT_SECRET,
      scopes: SCOPES ?? preset.scopes ?? ['openid', 'email'],
    };
  });
  const isUnknown = (name: string) =>
    /^OIDC_[A-Z\d_]{1,100}$/.test(name) && !isOfOtherService(name) && !knownNames.has(name);
  for (const name of Object.keys(env).filter((each) => env[each] && isUnknown(each)))
    problems.push(`${name}: is no variable of a provider in OIDC_PROVIDERS`);
  return { providers, problems };
};

const titleOf = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('-', ' ');
