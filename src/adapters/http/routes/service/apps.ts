import * as v from 'valibot';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';
import { KEPT_JSON } from './well-known.ts';

/** What the systems of phones fetch, to know the apps that use the passkeys of the domain and claim its links. */
type Apps = {
  /** The links of the service's own host that they claim. */
  readonly paths: readonly string[];
  /** The package, and the SHA-256 of the certificate that has signed it, as `keytool` prints it. */
  readonly android: readonly { readonly name: string; readonly fingerprint: string }[];
  /** The team and the bundle. */
  readonly apple: readonly string[];
};

/** Digital Asset Links. */
const assetLinks = ({ android, paths }: Omit<Apps, 'apple'>) =>
  android.map(({ name, fingerprint }) => ({
    relation: ['get_login_creds', ...(paths.length > 0 ? ['handle_all_urls'] : [])].map(
      (each) => `delegate_permission/common.${each}`,
    ),
    target: { namespace: 'android_app', package_name: name, sha256_cert_fingerprints: [fingerprint] },
  }));

const siteAssociation = ({ apple, paths }: Omit<Apps, 'android'>) => ({
  webcredentials: { apps: apple },
  ...(paths.length > 0 && {
    applinks: { details: [{ appIDs: apple, components: paths.map((path) => ({ '/': path })) }] },
  }),
});

const EXAMPLE = {
  paths: ['/signed-in'],
  android: [{ name: 'com.example.app', fingerprint: Array(32).fill('FA').join(':') }],
  apple: ['ABCDE12345.com.example.app'],
};

/** A file is there if it names an app. */
export const appRoutes = (apps: Apps): Route[] => [
  ...(apps.android.length === 0
    ? []
    : [fileRoute('assetlinks.json', 'Android', assetLinks(EXAMPLE), assetLinks(apps))]),
  ...(apps.apple.length === 0
    ? []
    : [fileRoute('apple-app-site-association', 'Apple', siteAssociation(EXAMPLE), siteAssociation(apps))]),
];

const fileRoute = (file: string, system: string, example: unknown, data: unknown): Route =>
  route(
    {
      ...PUBLIC_READ,
      name: file.replace(/\.json$/, ''),
      tag: 'documents',
      summary: `Return the apps of ${system} that use the passkeys`,
      path: `/.well-known/${file}`,
      response: { data: v.pipe(v.unknown(), v.examples([example])), unwrapped: KEPT_JSON },
    },
    () => data,
  );
