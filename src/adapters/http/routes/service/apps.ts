import * as v from 'valibot';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';
import { KEPT_JSON } from './well-known.ts';

/**
 * What the systems of phones fetch, to know which apps use the passkeys of the domain and claim its links.
 * @param apps as in NATIVE_APPS
 * @param paths of the links at the service's own host
 */
export const appRoutes = (apps: readonly string[], paths: readonly string[]): Route[] => {
  const relations = ['get_login_creds', ...(paths.length > 0 ? ['handle_all_urls'] : [])];
  const relation = relations.map((each) => `delegate_permission/common.${each}`);
  const android = apps.flatMap((app) => {
    const [, name, fingerprint] = /^android:([^:]+):(.*)$/.exec(app) ?? [];
    const target = { namespace: 'android_app', package_name: name, sha256_cert_fingerprints: [fingerprint] };
    return name === undefined ? [] : [{ relation, target }];
  });
  const appIDs = apps.flatMap((app) => /^apple:(.*)$/.exec(app)?.[1] ?? []);
  const details = paths.length === 0 ? [] : [{ appIDs, components: paths.map((path) => ({ '/': path })) }];
  return [
    ...(android.length === 0 ? [] : [fileRoute('assetlinks.json', android)]),
    ...(appIDs.length === 0
      ? []
      : [fileRoute('apple-app-site-association', { webcredentials: { apps: appIDs }, applinks: { details } })]),
  ];
};

const fileRoute = (file: string, data: object): Route =>
  route(
    {
      ...PUBLIC_READ,
      name: file.replace('.json', ''),
      tag: 'documents',
      summary: 'Return the apps that use the passkeys',
      path: `/.well-known/${file}`,
      response: { data: v.pipe(v.unknown(), v.examples([data])), unwrapped: KEPT_JSON },
    },
    () => data,
  );
