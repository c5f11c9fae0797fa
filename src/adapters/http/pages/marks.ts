import { Html } from '../../../application/templates.ts';

/** Icons of buttons, of 24 × 24, by the names of providers in OIDC_PROVIDERS: in the colour of the text, or in those that the provider demands. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google:
    '<g stroke="none"><path fill="#4285f4" d="M22.6 12.3c0-.8-.1-1.5-.2-2.3H12v4.3h5.9c-.3 1.4-1 2.5-2.2 3.3v2.8h3.6c2.1-2 3.3-4.8 3.3-8.1z"/><path fill="#34a853" d="M12 23c3 0 5.5-1 7.3-2.6l-3.6-2.8c-1 .7-2.2 1-3.7 1-2.9 0-5.3-1.9-6.2-4.5H2.2v2.8C4 20.5 7.7 23 12 23z"/><path fill="#fbbc05" d="M5.8 14.1a6.6 6.6 0 0 1 0-4.2V7.1H2.2a11 11 0 0 0 0 9.8z"/><path fill="#ea4335" d="M12 5.4c1.6 0 3.1.6 4.2 1.6l3.2-3.1A11 11 0 0 0 2.2 7.1l3.6 2.8c.9-2.6 3.3-4.5 6.2-4.5z"/></g>',
  microsoft:
    '<g stroke="none"><path fill="#f25022" d="M3.5 3.5h8v8h-8z"/><path fill="#7fba00" d="M12.5 3.5h8v8h-8z"/><path fill="#00a4ef" d="M3.5 12.5h8v8h-8z"/><path fill="#ffb900" d="M12.5 12.5h8v8h-8z"/></g>',
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
