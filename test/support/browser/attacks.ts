/** A way in which a page of a foreign site makes a visitor's browser send a request to the service. */
export type Attack = {
  readonly title: string;
  /** A page that sends a request to the URL when it loads, or when the visitor clicks its link. */
  readonly html: (url: string) => string;
  readonly click?: true;
  /** Whether the request is for a resource that the page embeds. */
  readonly embeds?: true;
};

const script = (code: string): string => `<script>${code}</script>`;
const postForm = (url: string, given = ''): string =>
  `<form method="post" action="${url}" ${given}</form>${script('document.forms[0].submit()')}`;
const inSandbox = (html: string): string =>
  `<iframe sandbox="allow-scripts allow-forms" srcdoc="${html.replaceAll('"', '&quot;')}"></iframe>`;

/** A GET without `Origin` for a subresource of a page. The browser sends no SameSite=Lax cookie. */
export const LOADS: readonly Attack[] = [
  { title: 'an image', html: (url) => `<img src="${url}">`, embeds: true },
  { title: 'a script', html: (url) => `<script src="${url}"></script>`, embeds: true },
  { title: 'a style sheet', html: (url) => `<link rel="stylesheet" href="${url}">`, embeds: true },
  { title: 'a frame', html: (url) => `<iframe src="${url}"></iframe>`, embeds: true },
  { title: 'an opaque fetch', html: (url) => script(`fetch('${url}', { mode: 'no-cors', credentials: 'include' })`) },
];

/** A GET without `Origin` that navigates. The browser sends SameSite=Lax cookies. */
export const NAVIGATIONS: readonly Attack[] = [
  { title: 'a link that is followed', html: (url) => `<a href="${url}">a prize</a>`, click: true },
  { title: 'a link without a referrer', html: (url) => `<a rel="noreferrer" href="${url}">a prize</a>`, click: true },
  { title: 'a link to a new window', html: (url) => `<a target="_blank" href="${url}">a prize</a>`, click: true },
  { title: 'a window opened by a script', html: (url) => script(`window.open('${url}')`) },
  { title: 'a change of location', html: (url) => script(`location.href = '${url}'`) },
  { title: 'a meta refresh', html: (url) => `<meta http-equiv="refresh" content="0; url=${url}">` },
  { title: 'a GET form', html: (url) => `<form action="${url}"></form>${script('document.forms[0].submit()')}` },
];

/** A GET request with `Origin`. */
export const READS: readonly Attack[] = [
  { title: 'a fetch', html: (url) => script(`fetch('${url}', { credentials: 'include' })`) },
  { title: 'a cross-origin image', html: (url) => `<img crossorigin="use-credentials" src="${url}">` },
  { title: 'a module', html: (url) => `<script type="module" crossorigin="use-credentials" src="${url}"></script>` },
];

/** A POST request that needs no preflight. */
export const POSTS: readonly Attack[] = [
  { title: 'a form', html: (url) => postForm(url, '>') },
  {
    title: 'a form without a referrer',
    html: (url) => `<meta name="referrer" content="no-referrer">${postForm(url, '>')}`,
  },
  { title: 'a form in a sandboxed frame', html: (url) => inSandbox(postForm(url, '>')) },
  { title: 'a fetch', html: (url) => script(`fetch('${url}', { method: 'POST', credentials: 'include' })`) },
  {
    title: 'an opaque fetch',
    html: (url) => script(`fetch('${url}', { method: 'POST', mode: 'no-cors', credentials: 'include' })`),
  },
  { title: 'a beacon', html: (url) => script(`navigator.sendBeacon('${url}')`) },
];

/** A body that a JSON parser accepts, with a content type that needs no preflight. */
export const JSON_LIKE_FORM: Attack = {
  title: 'a form that looks like JSON',
  html: (url) =>
    postForm(url, `enctype="text/plain"><input name='{"account":"mallory","password":"' value='correct horse"}'>`),
};
