import { Html, html } from '../../../../application/templates.ts';
import { documentRoute, HTML_TYPE, hashSourceOf, SCRIPT_TYPE } from '../../documents.ts';
import type { Route } from '../../routing/define-route.ts';

type DeviceKey = {
  readonly script: string;
  readonly applications: readonly string[];
  /** Whether there are keys. Without, the page says so at once, which a page that is not there could not. */
  readonly isOn: boolean;
};

/** Browsers load the page before the first renewal of an application, so they keep it longer than other pages. */
const CACHE_CONTROL = 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=86400';

/** `frame-ancestors` makes browsers ignore the X-Frame-Options of stage 1 (CSP Level 3 §6.4.2.2). */
const policyFor = ({ script, applications }: DeviceKey): string =>
  [
    ...["default-src 'none'", `script-src ${hashSourceOf(script)}`, "connect-src 'self'"],
    ...["base-uri 'none'", "form-action 'none'", ["frame-ancestors 'self'", ...applications].join(' ')],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ].join('; ');

/**
 * The page that holds the key of a device, in a hidden frame of the applications; and its script, for other pages of the service: `client/`,
 * ADR 0023.
 */
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
 * The hidden frame that holds the key of a device. Its script is in the page: as a module of its own it would need another request, with an
 * Origin that may not be on the allow-list.
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
