/** What browsers send when they open an address. */
export const BROWSER_ACCEPT = {
  Chromium:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  Firefox: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
} as const;
