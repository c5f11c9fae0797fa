import { PAGES, type PageName } from '../forms/flow.ts';
import type { PageFacts } from '../forms/page-facts.ts';
import type { PageContent } from '../forms/page-routes.ts';
import { pathIn, type UserSite } from './layout.ts';

/** Everything that the pages say in one language, by what it is for. */
export type UserTexts = {
  readonly direction: string;
  readonly common: Texts;
  readonly errors: Texts;
  readonly notices: Texts;
  /** What happened to the account, by the kinds of events. */
  readonly events: Texts;
  readonly buttons: Texts;
  readonly fields: Readonly<Record<string, Texts>>;
  readonly pages: Readonly<Record<string, Texts>>;
};
export type Texts = Readonly<Record<string, string>>;

/** A page with all that its variables need. */
export type PageView = PageContent &
  PageFacts & {
    /** Tells a second click on a form from a second attempt. */
    readonly once: string;
    /** The time of the service, in epoch milliseconds. */
    readonly now: number;
    /** The picture of the secret that an app is to read; `null`: there is none. */
    readonly qr: string | null;
    /** With which users can log in, besides. */
    readonly providers: readonly { readonly name: string; readonly title: string }[];
    /** The languages of mails. */
    readonly locales: readonly string[];
    /** The origin of the application to which the pages lead back; `null`: not known. */
    readonly application: string | null;
    /** Of a password. */
    readonly minLength: number;
    readonly texts: UserTexts;
    readonly site: UserSite;
    readonly locale: string;
  };

export const isOffered = (shown: PageView, form: string): boolean =>
  // A link that is not valid does not become so.
  shown.state?.error?.code !== 'AUTH_LINK_INVALID' && (PAGES[shown.name].forms[form]?.offered?.(shown) ?? true);

/** The names of links that lead to no page of their own name. */
export const OTHER_LINKS = ['target', 'application', 'export'];

/** The address of a link by its name. */
export const linkOf = ({ name: page, site, to, target, pages, application }: PageView, name: string): string => {
  if (name === 'target') return target;
  if (name === 'application' && to !== undefined) return target;
  if (name === 'export') return pathIn(site, '/auth/account/export');
  // Without the pages for log-ins, those of links lead back to the application.
  if (name === 'application' || !pages.has(name)) return application ?? pathIn(site, '/');
  // A link in a mail does not say what its user came for.
  const next = to ?? (PAGES[page].path.startsWith('/auth/link/') ? application : null);
  return pathIn(site, PAGES[name as PageName].path) + (next === null ? '' : `?${new URLSearchParams({ to: next })}`);
};
