import { operatorAdmission } from '../../adapters/crypto/assertions.ts';
import { createApp } from '../../adapters/http/app.ts';
import type { HttpDeps } from '../../adapters/http/http-deps.ts';
import type { Navigation } from '../../adapters/http/pages/layout.ts';
import { type Act, actRoutes, withAuditLog } from '../../adapters/http/routes/back-office/act.ts';
import { ACTS } from '../../adapters/http/routes/back-office/acts.ts';
import { officeRoutes } from '../../adapters/http/routes/back-office/pages.ts';
import { behindProxy, withLogin } from '../../adapters/http/routes/back-office/people.ts';
import { exportUser, READS, settingsRead } from '../../adapters/http/routes/back-office/reads.ts';
import { openApiRoute } from '../../adapters/http/routes/service/documents.ts';
import { errorRoutes } from '../../adapters/http/routes/service/errors.ts';
import { officeStyle, styleRoutes } from '../../adapters/http/routes/service/pages.ts';
import type { Route } from '../../adapters/http/routing/define-route.ts';
import type { Service } from '../../application/service.ts';
import { CATALOG } from '../../domain/errors/catalog.ts';
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';

const INTRODUCTION = [
  'The back office of Tandem: what operators may know and do, for programs with a key of ADMIN_KEYS. It is not public.',
  'Clients have to accept members that they do not know, and judge codes that they do not know by their status.',
].join('\n\n');

/** The links in the navigation: the start page, and the pages of `reads`, without those that need mail in a service without mail. */
const navigationOf = (reads: Readonly<Record<string, Act>>, hasMail: boolean): Navigation => [
  ['/office', 'Back office'],
  ...Object.values(reads).flatMap(({ page, requires }) =>
    page === undefined || (requires === 'mail' && !hasMail) ? [] : [[page.path, page.name] as const],
  ),
];

/** The handlers and routes of the back office (ADR 0031): the stages of the service over routes for programs, and pages if people can be authenticated. */
export const openBackOffice = async (
  { keys, url, proxy }: NonNullable<Config['admin']>,
  deps: Service & Pick<Config, 'accountPagesUrl' | 'baseUrl' | 'officeLink' | 'resetLinkHandOver' | 'shownSettings'>,
  http: HttpDeps,
) => {
  const { baseUrl, officeLink } = deps;
  const { origin, hostname } = new URL(url);
  const { logger, counts } = http;
  const operators = { ...deps, hasMail: deps.mailer !== null };
  const reads = { ...READS, settings: settingsRead([...deps.shownSettings]), 'export-user': exportUser(deps) };
  const login = officeLink === null ? null : withLogin(deps, { baseUrl, adminUrl: url, officeLink });
  const people = login ?? (proxy && behindProxy(proxy, url));
  const siteNavigation = people === null ? [['/errors', 'Errors'] as const] : navigationOf(reads, operators.hasMail);
  const look = { siteNavigation, ...(people !== null && { siteStyle: '/office.css' }) };
  const site = { baseUrl: url, version: VERSION, ...look };
  const addAuditLog = (all: readonly Route[]) => withAuditLog(all, (call) => logger.info(call, 'back office'));
  const api = addAuditLog(actRoutes({ ...reads, ...ACTS }, operators));
  const routes: Route[] = [
    ...api,
    ...(people === null
      ? []
      : [
          ...addAuditLog(officeRoutes({ ...operators, site, api, reads, logOutUrl: people.logOutUrl })).map(
            people.redirectToLogin,
          ),
          ...people.routes,
          ...[...styleRoutes(), officeStyle()].map((each) => ({ ...each, visitor: true as const })),
        ]),
    ...errorRoutes(site, () => CATALOG),
    openApiRoute(() => routes, site, INTRODUCTION),
  ];
  const app = createApp(routes, {
    ...http,
    // The headers X-Forwarded-… are ignored: requests are counted by operator instead of address, and the Host header is compared as it was sent.
    trustProxy: 0,
    baseUrl: url,
    ...look,
    hosts: [hostname],
    // Browsers send the origin of the back office with the forms of its pages.
    allowedOrigins: people === null ? [] : [origin],
    ownOrigins: people === null ? [] : [origin],
    allowedOriginsSetting: 'ADMIN_URL',
    admitPerson: people?.admit,
    allowedHeaders: [],
    postedCallbacks: new Set(),
    // No limits by address, which one program behind a proxy could use up for all others. Refusing a request without a valid key takes only 0.1 ms.
    rateLimits: { global: null, strict: null, public: null },
    counts: { countRequest: (key, window) => counts.countRequest(`back office ${key}`, window) },
    admitOperator: await operatorAdmission(keys, url, deps.records),
  });
  return { http: app, routes };
};
