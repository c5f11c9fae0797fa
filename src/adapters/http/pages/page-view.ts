import { formPath, PAGES, type PageName } from '../forms/flow.ts';
import type { PageFacts } from '../forms/page-facts.ts';
import type { PageContent } from '../forms/page-routes.ts';
import { pathIn, type UserSite } from './layout.ts';

export type UserTexts = {
  readonly direction: string;
  readonly common: Texts;
  readonly errors: Texts;
  readonly notices: Texts;
  readonly events: Texts;
  readonly buttons: Texts;
  readonly fields: Readonly<Record<string, Texts>>;
  readonly pages: Readonly<Record<string, Texts>>;
};
export type Texts = Readonly<Record<string, string>>;

/** The data from which the variables of a page's template get their values. */
export type PageView = PageContent &
  PageFacts & {
    /** A random number for the forms, by which a second click can be told from a second attempt. */
    readonly once: string;
    readonly now: number;
    /** The QR code of an authenticator app's secret, as SVG. */
    readonly qr: string | null;
    readonly providers: readonly { readonly name: string; readonly title: string }[];
    /** Whether a page or a form of the service has this path. */
    readonly hasPath: (path: string) => boolean;
    /** The languages in which the service sends mails. */
    readonly locales: readonly string[];
    /** The URL of the application, to which pages link; `null`: the service does not know one. */
    readonly application: string | null;
    readonly minPasswordLength: number;
    readonly texts: UserTexts;
    readonly site: UserSite;
    readonly locale: string;
  };

/** The data that the layout of the pages for users needs. */
export type PageFrame = Pick<PageView, 'site' | 'texts' | 'locale'>;

/** Whether the page shows a form. It shows none if the link is not valid, since a second attempt would fail, too. */
export const hasForm = (view: PageView, form: string): boolean =>
  view.hasPath(formPath(view.name, form)) &&
  view.state?.error?.code !== 'AUTH_LINK_INVALID' &&
  (PAGES[view.name].forms[form]?.isOffered?.(view) ?? true);

/** The names that links have besides those of PAGES. */
export const OTHER_LINKS = ['target', 'application', 'export'];

export const linkOf = (view: PageView, name: string): string => {
  const { site, to, target, pages, application } = view;
  if (name === 'target') return target;
  if (name === 'application' && to !== undefined) return target;
  if (name === 'export') return pathIn(site, '/auth/account/export');
  // If the service does not have the page, the link leads to the application, or to the home page of the service.
  if (name === 'application' || !pages.has(name)) return application ?? pathIn(site, '/');
  return pathIn(site, PAGES[name as PageName].path) + targetQuery(view);
};

/** The query with the target of a page. On the page of a link, which has no target, the application takes its place, if there is one. */
export const targetQuery = ({ name, to, application }: Pick<PageView, 'name' | 'to' | 'application'>): string => {
  const next = to ?? (PAGES[name].path.startsWith('/auth/link/') ? application : null);
  return next === null ? '' : `?${new URLSearchParams({ to: next })}`;
};
