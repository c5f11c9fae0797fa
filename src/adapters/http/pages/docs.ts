import { type Html, html, NO_HTML } from '../../../application/templates.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { STATUS_CODES } from '../node-http.ts';
import { type Components, collectComponents, exampleOf, jsonSchemaOf } from '../openapi/components.ts';
import { codesByStatus, successExample } from '../openapi/responses.ts';
import { type Route, TAGS } from '../routing/define-route.ts';
import { ADVICE, STATUS_ADVICE } from './advice.ts';
import { breakable, jsonBlock, layout, pathIn, prose, type Site } from './layout.ts';

export const docsPage = (routes: readonly Route[], site: Site): string => {
  const commonErrors = commonErrorsOf(routes);
  const groups = Object.entries(TAGS).map(([tag, description]) => ({
    description,
    title: tag.charAt(0).toUpperCase() + tag.slice(1),
    routes: routes.filter((route) => route.tag === tag),
  }));
  return layout(site, {
    title: 'API · Tandem',
    path: '/docs',
    // Not a module: browsers request modules with an `Origin`, and the origin of the service itself may not be allowed.
    script: html`<script defer src="${pathIn(site, '/docs-filter.js')}"></script>\n`,
    main: html`<h1>API</h1>
<p>The <a href="${pathIn(site, '/openapi.json')}">OpenAPI document</a> has the same for programs, with what each field may be. In the
commands, <code>$TOKEN</code> is an access token and <code>$JAR</code> a file for cookies.</p>
<nav aria-label="Routes">
<p hidden><label for="filter">Filter the routes</label> <input id="filter" type="search" autocomplete="off"></p>
<ul class="plain">
${routes.map((route) => html`<li data-route="${searchedText(route)}"><a href="#${route.name}">${headingOf(route)}</a></li>\n`)}</ul>
</nav>
${groups.map(({ title, description, routes }) => html`<h2>${title}</h2>\n<p>${description}</p>\n${routes.map((route) => routeSection(route, commonErrors, site))}`)}
<h2 id="every-route">Errors of every route</h2>
${errorList(commonErrors, site)}`,
  });
};

const headingOf = ({ method, path }: Route): Html => html`<code><span class="method">${method}</span> ${path}</code>`;

const routeSection = (route: Route, commonErrors: readonly ErrorRow[], site: Site): Html => {
  const components = collectComponents();
  const { response } = route;
  const data = exampleOf(jsonSchemaOf(response.data, 'output', components), components);
  const errors = errorsOf(route).filter((row) => !commonErrors.some((other) => isSame(row, other)));
  const call = CLIENT_CALLS[route.name];
  return html`<article aria-labelledby="${route.name}" data-route="${searchedText(route)}">
<h3 id="${route.name}">${headingOf(route)}</h3>
<p>${route.summary}. ${prose(route.description ?? '')} Token: ${tokensOf(route)}. Limit: ${route.throttle}.</p>
<pre><code>${curlOf(route, site, components)}</code></pre>
${call === undefined ? NO_HTML : html`<p>Browser client: <code>${call}</code></p>`}
<p>${response.status} ${STATUS_CODES[response.status] ?? ''}${data === undefined ? '.' : ':'}</p>
${data === undefined ? NO_HTML : exampleBlock(response.unwrapped === undefined ? successExample(data, site) : data)}
<p>Errors, besides <a href="#every-route">those of every route</a>${errors.length === 0 ? ': none.' : ':'}</p>
${errorList(errors, site)}
</article>
`;
};

/** The text of a route in which the filter of the page searches. */
const searchedText = ({ method, path, summary }: Route): string => `${method} ${path} ${summary}`.toLowerCase();

const exampleBlock = (example: unknown): Html =>
  typeof example === 'string' ? html`<pre><code>${example}</code></pre>` : jsonBlock(example);

const tokensOf = ({ auth, cookie: { reads } }: Route): string => {
  const tokens = [
    ...(auth === 'public' ? [] : [`access token, ${auth}`]),
    ...(reads === undefined ? [] : [`refresh cookie, ${reads}`]),
  ];
  return tokens.join('; ') || 'none';
};

const curlOf = ({ method, path, auth, cookie, request: { body } }: Route, site: Site, components: Components) => {
  const example = body && exampleOf(jsonSchemaOf(body, 'input', components), components);
  const options = [
    ...(auth === 'public' ? [] : [`-H "Authorization: Bearer $TOKEN"`]),
    ...(cookie.reads === undefined ? [] : [`-b "$JAR"`]),
    ...(cookie.writes === undefined ? [] : [`-c "$JAR"`]),
    ...(example === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(example)}'`]),
  ];
  const url = `${site.baseUrl}${path.replaceAll(/:(\w+)/g, (_all, name: string) => name.toUpperCase())}`;
  return [method === 'GET' ? 'curl' : `curl -X ${method}`, ...options, url].join(options.length > 0 ? ' \\\n  ' : ' ');
};

type ErrorRow = { readonly status: number; readonly code: ErrorCode; readonly advice: string };

const errorsOf = (route: Route): ErrorRow[] =>
  [...codesByStatus(route)].flatMap(([status, codes]) =>
    codes.map((code) => ({ status, code, advice: route.ownErrors[code]?.description ?? adviceOf(status, code) })),
  );

const isSame = (a: ErrorRow, b: ErrorRow): boolean => a.code === b.code && a.status === b.status;

const commonErrorsOf = ([first, ...others]: readonly Route[]): ErrorRow[] =>
  first === undefined
    ? []
    : errorsOf(first).filter((row) => others.every((route) => errorsOf(route).some((other) => isSame(row, other))));

const errorList = (errors: readonly ErrorRow[], site: Site): Html => {
  const items = errors.map(({ status, code, advice }) => {
    const link = html`<a href="${pathIn(site, `/errors/${code}`)}"><code>${breakable(code)}</code></a>`;
    return html`<dt>${status} ${link}</dt>\n<dd>${prose(advice)}</dd>\n`;
  });
  return items.length === 0 ? NO_HTML : html`<dl>\n${items}</dl>`;
};

const adviceOf = (status: number, code: ErrorCode): string =>
  (code === 'SYS_HTTP_UNEXPECTED_ERROR' && STATUS_ADVICE.find((each) => each.status === status)?.advice) ||
  ADVICE[code];

/** Calls of the browser client (docs/own-forms.md) that take the place of requests, by the names of the routes. */
export const CLIENT_CALLS: Readonly<Record<string, string>> = {
  register: 'auth.register({ username, email, password })',
  login: 'auth.login({ account, password })',
  refresh: 'auth.refresh()',
  'clear-cookie': 'auth.logout()',
  session: 'auth.user',
  sessions: 'auth.sessions.list()',
  'end-session': 'auth.sessions.end(id)',
  'end-sessions': 'auth.sessions.endOthers()',
  'change-password': 'auth.changePassword({ currentPassword, newPassword })',
  'current-user': "auth.fetch('/users/me')",
  'delete-account': 'account.remove(password)',
  events: 'account.events({ before, limit })',
  'export-account': 'account.exported()',
  'change-username': 'account.changeUsername({ username })',
  'change-email': 'account.changeEmail({ email, password })',
  'preview-email-change': 'account.previewEmailChange(token)',
  'preview-password-reset': 'account.previewPasswordReset(token)',
  'confirm-email-change': 'account.confirmEmailChange({ token, password })',
  'undo-email-change': 'account.undoEmailChange(token)',
  'request-password-reset': 'account.requestPasswordReset(email)',
  'confirm-password-reset': 'account.resetPassword({ token, newPassword })',
  'request-email-verification': 'account.requestEmailVerification(email)',
  'confirm-email': 'account.verifyEmail(token)',
  'remove-unverified-account': 'account.refuseRegistration(token)',
};
