import { Html, html } from '../../../../application/templates.ts';
import { contentPolicy, documentRoute, HTML_TYPE, hashSourceOf, SCRIPT_TYPE, TRUSTED_TYPES } from '../../documents.ts';
import type { Route } from '../../routing/define-route.ts';

type DeviceKeySettings = {
  readonly script: string;
  readonly applications: readonly string[];
  /** Whether sessions are bound to keys of devices. If not, the page still exists, and tells the application so at once. */
  readonly isEnabled: boolean;
};

/** Browsers may cache the page longer than other pages, since applications load it before they refresh. */
const CACHE_CONTROL = 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=86400';

/** Applications may frame the page: because of `frame-ancestors`, browsers ignore the `X-Frame-Options` of stage 1 (CSP Level 3 §6.4.2.2). */
const policyFor = ({ script, applications }: DeviceKeySettings): string =>
  contentPolicy({
    ...{ 'script-src': hashSourceOf(script), 'connect-src': "'self'", ...TRUSTED_TYPES },
    'frame-ancestors': ["'self'", ...applications].join(' '),
  });

/** The page that holds the key of a device, for a hidden frame of an application, and its script as a module, for pages of the service (ADR 0023). */
export const deviceKeyRoutes = (deviceKey: DeviceKeySettings): Route[] => [
  documentRoute({
    name: 'device-key',
    summary: 'Return the page that holds the key of a device, for a hidden frame',
    path: '/device-key',
    type: HTML_TYPE,
    cacheControl: CACHE_CONTROL,
    embeddable: true,
    contentSecurityPolicy: policyFor(deviceKey),
    text: '<!doctype html>…',
    read: () => deviceKeyPage(deviceKey.script, deviceKey.isEnabled ? ['self', ...deviceKey.applications] : []),
  }),
  documentRoute({
    name: 'device-key-script',
    summary: 'Return the script of that page as a JavaScript module, for other pages of the service',
    path: '/device-key.js',
    type: SCRIPT_TYPE,
    cacheControl: CACHE_CONTROL,
    text: 'export { prove };',
    read: () => deviceKey.script,
  }),
];

/**
 * The page contains its script: browsers would request a module with an `Origin`, and the origin of the service itself may not be allowed.
 * @param origins the origins whose pages get proofs; `self` stands for the origin of the service
 */
const deviceKeyPage = (script: string, origins: readonly string[]): string =>
  html`<!doctype html>
<html lang="en" data-origins="${origins.join(' ')}">
<meta charset="utf-8">
<title>Key of this device</title>
<script type="module">${new Html(script)}</script>
</html>
`.text;
