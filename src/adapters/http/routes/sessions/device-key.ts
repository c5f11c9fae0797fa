import { Html, html } from '../../../../application/templates.ts';
import { contentPolicy, documentRoute, HTML_TYPE, hashSourceOf, SCRIPT_TYPE, TRUSTED_TYPES } from '../../documents.ts';
import type { Route } from '../../routing/define-route.ts';

type DeviceKey = {
  readonly script: string;
  readonly applications: readonly string[];
  /** Whether devices have keys. If not, the page is still there, and tells the application so at once. */
  readonly isOn: boolean;
};

/** Applications load the page before they refresh, so browsers may keep it longer than other pages. */
const CACHE_CONTROL = 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=86400';

/** `frame-ancestors` makes browsers ignore the X-Frame-Options of stage 1 (CSP Level 3 §6.4.2.2). */
const policyFor = ({ script, applications }: DeviceKey): string =>
  contentPolicy({
    ...{ 'script-src': hashSourceOf(script), 'connect-src': "'self'", ...TRUSTED_TYPES },
    'frame-ancestors': ["'self'", ...applications].join(' '),
  });

/** The page that holds the key of a device in a hidden frame, and its script for other pages of the service. ADR 0023. */
export const deviceKeyRoutes = (deviceKey: DeviceKey): Route[] => [
  documentRoute({
    name: 'device-key',
    summary: 'Return the page that holds the key of a device, for a hidden frame',
    path: '/device-key',
    type: HTML_TYPE,
    cacheControl: CACHE_CONTROL,
    embeddable: true,
    contentSecurityPolicy: policyFor(deviceKey),
    text: '<!doctype html>…',
    read: () => deviceKeyPage(deviceKey.script, deviceKey.isOn ? ['self', ...deviceKey.applications] : []),
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
 * Contains its script: as a module of its own, it would be requested with an Origin that may not be allowed.
 * @param origins whose pages get proofs; `self` for the service's own
 */
const deviceKeyPage = (script: string, origins: readonly string[]): string =>
  html`<!doctype html>
<html lang="en" data-origins="${origins.join(' ')}">
<meta charset="utf-8">
<title>Key of this device</title>
<script type="module">${new Html(script)}</script>
</html>
`.text;
