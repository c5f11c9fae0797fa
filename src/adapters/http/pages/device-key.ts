import { Html, html } from '../../../application/html.ts';

/**
 * The hidden frame that holds the key of a device. Its script is in the page: as a module of its own it would need another request, with an
 * Origin that may not be on the allow-list.
 * @param origins whose pages get proofs; `self` for the service's own
 */
export const deviceKeyPage = (script: string, origins: readonly string[]): string =>
  html`<!doctype html>
<html lang="en" data-origins="${origins.join(' ')}">
<meta charset="utf-8">
<title>Key of this device</title>
<script type="module">${new Html(script)}</script>
</html>
`.text;
