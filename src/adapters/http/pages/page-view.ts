import { PAGES, type PageName } from '../forms/flow.ts';
import type { PageFacts } from '../forms/page-facts.ts';
import type { PageContent } from '../forms/page-routes.ts';
import { pathIn, type UserSite } from './layout.ts';

/** The texts of the pages in one language. */
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

/** What the variables of a page's template need. */
export type PageView = PageContent &
  PageFacts & {
    /** Random: tells a second click on a form from a second attempt. */
    readonly once: string;
    readonly now: number;
    /** The QR code of an authenticator app's secret, as SVG. */
    readonly qr: string | null;
    readonly providers: readonly { readonly name: string; readonly title: string }[];
    /** The languages of mails. */
    readonly locales: readonly string[];
    /** The origin of the application; `null`: not known. */
    readonly application: string | null;
    /** The minimum length of a password. */
    readonly minLength: number;
    readonly texts: UserTexts;
    readonly site: UserSite;
    readonly locale: string;
  };

/** What every page of the layout needs. */
export type PageFrame = Pick<PageView, 'site' | 'texts' | 'locale'>;

/** Whether the page has a form. After an error of its link, another try would fail again. */
export const isOffered = (shown: PageView, form: string): boolean =>
  shown.state?.error?.code !== 'AUTH_LINK_INVALID' && (PAGES[shown.name].forms[form]?.offered?.(shown) ?? true);

/** Names of links that are not names of pages. */
export const OTHER_LINKS = ['target', 'application', 'export'];

/** The address of a link by its name. */
export const linkOf = (shown: PageView, name: string): string => {
  const { site, to, target, pages, application } = shown;
  if (name === 'target') return target;
  if (name === 'application' && to !== undefined) return target;
  if (name === 'export') return pathIn(site, '/auth/account/export');
  // A service may have the pages of links in mails alone.
  if (name === 'application' || !pages.has(name)) return application ?? pathIn(site, '/');
  return pathIn(site, PAGES[name as PageName].path) + targetIn(shown);
};

/** The query with the target of a page. A link in a mail has none: the application takes its place. */
export const targetIn = ({ name, to, application }: Pick<PageView, 'name' | 'to' | 'application'>): string => {
  const next = to ?? (PAGES[name].path.startsWith('/auth/link/') ? application : null);
  return next === null ? '' : `?${new URLSearchParams({ to: next })}`;
};
