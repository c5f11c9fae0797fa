import type { StartedApp } from './client.js';
import { make } from './dom.ts';

/** Shows the secret for the app, as a picture and as text. */
export const showApp = (place: HTMLElement, { secret, uri, qr }: StartedApp): void =>
  place.replaceChildren(
    make('p', {}, 'Scan this with an authenticator app, or type the secret into it.'),
    make('img', { src: `data:image/svg+xml,${encodeURIComponent(qr)}`, alt: 'QR code of the secret', className: 'qr' }),
    make('p', {}, make('code', {}, secret.replace(/.{4}(?=.)/g, '$& '))),
    make('p', {}, make('a', { href: uri }, 'Open an app of this device')),
  );
