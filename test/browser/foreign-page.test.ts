import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { openWorld, SITUATIONS, type Visitor } from '../support/browser/world.ts';

const CLEAR = '/auth/clear-cookie';
const REFRESH = '/auth/refresh-token';
const LOGIN = '/auth/login';

type Attack = {
  readonly title: string;
  /** The page, given the address that it is to ask; it asks by itself, or when the visitor clicks. */
  readonly html: (url: string) => string;
  readonly click?: true;
  /** What reaches the service. `lax`: a cookie of SameSite=Lax comes along. */
  readonly sends: { readonly method: string; readonly path: string; readonly status: number; readonly lax?: true };
};

const submitted = (form: string) => `${form}<script>document.forms[0].submit()</script>`;
const script = (code: string) => `<script>${code}</script>`;
const sandboxed = (html: string) =>
  `<iframe sandbox="allow-scripts allow-forms" srcdoc="${html.replaceAll('"', '&quot;')}"></iframe>`;

const loaded = { method: 'GET', path: CLEAR, status: 200 } as const;
const visited = { ...loaded, lax: true } as const;
const forbidden = { method: 'POST', path: REFRESH, status: 403 } as const;

const ATTACKS: readonly Attack[] = [
  { title: 'an image', html: (url) => `<img src="${url}">`, sends: loaded },
  { title: 'a script', html: (url) => `<script src="${url}"></script>`, sends: loaded },
  { title: 'a style sheet', html: (url) => `<link rel="stylesheet" href="${url}">`, sends: loaded },
  { title: 'a frame', html: (url) => `<iframe src="${url}"></iframe>`, sends: loaded },
  { title: 'an opaque fetch', html: (url) => script(`fetch('${url}', { mode: 'no-cors', credentials: 'include' })`), sends: loaded },
  { title: 'a fetch', html: (url) => script(`fetch('${url}', { credentials: 'include' })`), sends: { ...loaded, status: 403 } },
  { title: 'an image that wants CORS', html: (url) => `<img crossorigin="use-credentials" src="${url}">`, sends: { ...loaded, status: 403 } },
  { title: 'a link that is followed', html: (url) => `<a href="${url}">a prize</a>`, click: true, sends: visited },
  { title: 'a link without a referrer', html: (url) => `<a rel="noreferrer" href="${url}">a prize</a>`, click: true, sends: visited },
  { title: 'a new window', html: (url) => script(`window.open('${url}')`), sends: visited },
  { title: 'a change of location', html: (url) => script(`location.href = '${url}'`), sends: visited },
  { title: 'a meta refresh', html: (url) => `<meta http-equiv="refresh" content="0; url=${url}">`, sends: visited },
  { title: 'a form with GET', html: (url) => submitted(`<form action="${url}"></form>`), sends: { ...visited, path: `${CLEAR}?` } },
  { title: 'a form', html: (url) => submitted(`<form method="post" action="${url}"></form>`), sends: forbidden },
  {
    title: 'a form that hides where it comes from',
    html: (url) => `<meta name="referrer" content="no-referrer">${submitted(`<form method="post" action="${url}"></form>`)}`,
    sends: forbidden,
  },
  { title: 'a form in a sandbox', html: (url) => sandboxed(submitted(`<form method="post" action="${url}"></form>`)), sends: forbidden },
  { title: 'a fetch', html: (url) => script(`fetch('${url}', { method: 'POST', credentials: 'include' })`), sends: forbidden },
  {
    title: 'an opaque fetch',
    html: (url) => script(`fetch('${url}', { method: 'POST', mode: 'no-cors', credentials: 'include' })`),
    sends: forbidden,
  },
  { title: 'a beacon', html: (url) => script(`navigator.sendBeacon('${url}')`), sends: forbidden },
  {
    title: 'a form that is made to look like JSON',
    html: (url) =>
      submitted(`<form method="post" enctype="text/plain" action="${url}"><input name='{"account":"' value='"}'></form>`),
    sends: { ...forbidden, path: LOGIN },
  },
];

const clickIf = async (tab: Page, click: true | undefined): Promise<void> => {
  if (click) await tab.click('a');
};

describe.runIf(canBrowse()).each(SITUATIONS)('a foreign page, to $title', ({ host, env }) => {
  const { world, signedUp } = openWorld(host, env);
  const everywhere = env.JWT_REFRESH_COOKIE_SAME_SITE === 'none';

  const expectUntouched = async ({ post }: Visitor, asked: () => Promise<unknown>): Promise<void> => {
    await asked();
    expect((await post(REFRESH)).status).toBe(200);
  };

  it.each(ATTACKS)('changes nothing by $title ($sends.method $sends.path)', async ({ html, click, sends }) => {
    const visitor = await signedUp();
    const { lax = false, ...request } = sends;
    const marked = `${sends.path.replace('?', '')}`;
    await expectUntouched(visitor, async () => {
      const start = world().witness.seen.length;
      const tab = await visitor.open(world().foreign.publish(html(world().service + marked)));
      await clickIf(tab, click);
      const seen = await world().witness.sees(sends.path, start);
      expect(seen).toMatchObject({ ...request, site: 'cross-site', cookie: lax || everywhere, setsCookie: false });
    });
  });
});
