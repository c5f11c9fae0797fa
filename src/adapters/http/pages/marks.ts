import { Html } from '../../../application/templates.ts';

/** Icons of buttons, of 24 × 24, by the names of providers in OIDC_PROVIDERS. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: '<path d="M20.5 12H12m8.5 0a8.5 8.5 0 1 1-2.6-6.1" stroke-width="3"/>',
  microsoft: '<path d="M3.5 3.5h8v8h-8zm9 0h8v8h-8zm-9 9h8v8h-8zm9 0h8v8h-8z" fill="currentColor" stroke="none"/>',
  apple:
    '<path d="M12 7.8c-3.1-1.8-7.3-.3-7.3 4.7 0 4 2.4 8.3 4.7 8.3 1 0 1.5-.6 2.6-.6s1.6.6 2.6.6c1.9 0 3.6-2.3 4.5-5-3.3-1.4-3.4-5.7-.3-7.3-1.6-2.1-4.5-2.1-6.8-.7zm0-1.6c.1-2.2 1.4-3.7 3.5-4 .1 2.2-1.4 3.9-3.5 4z" fill="currentColor" stroke="none"/>',
  github:
    '<path d="M4.6 3.5c1.6.1 3 .8 4.1 1.6a12 12 0 0 1 6.6 0c1.1-.8 2.5-1.5 4.1-1.6.6 1.6.5 3 .2 4 .9 1.1 1.4 2.4 1.4 3.8 0 4.5-3.4 6.1-6 6.5.6.7 1 1.6 1 2.7v1.5H8V20.5c0-1.1.4-2 1-2.7-2.6-.4-6-2-6-6.5 0-1.4.5-2.7 1.4-3.8-.3-1-.4-2.4.2-4z" fill="currentColor" stroke="none"/>',
};
const OTHER_PROVIDER = '<path d="M10 4h9.5v16H10M4 12h10.5m-4-4 4 4-4 4"/>';
const PASSKEY = '<circle cx="8" cy="15.5" r="4.5"/><path d="m11.2 12.3 8.8-8.8m-4 4 3 3"/>';

const drawn = (shape: string): Html =>
  new Html(
    `<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${shape}</svg>`,
  );

export const passkeyMark = drawn(PASSKEY);
export const providerMark = (provider: string): Html => drawn(PROVIDERS[provider] ?? OTHER_PROVIDER);
