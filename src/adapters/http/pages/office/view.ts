import type { Site } from '../layout.ts';

export type PageView = {
  readonly site: Site;
  /** The name of the operator. */
  readonly operator: string;
  /** Random: tells a second click on a form from a second attempt. */
  readonly once: string;
  readonly outcome: FormOutcome | null;
  /** `null`: the proxy logs people out. */
  readonly logOutUrl: string | null;
  /** By the name of the act. A service without mail lacks some. */
  readonly forms: ReadonlyMap<string, OfficeForm>;
  /** By the ids of users whom the page names. */
  readonly usernames: ReadonlyMap<string, string>;
  /** The names of the providers. */
  readonly providers: readonly string[];
  /** What the filter of the page suggests. */
  readonly suggested: readonly string[];
  readonly deviceNames: (userAgent: string | null) => string | null;
};

/** The form of an act. */
export type ActForm = {
  readonly button: string;
  /** Says what the act does. */
  readonly text: string;
  /** The words that have to be typed, so that nobody does it by mistake. */
  readonly confirm?: string | typeof USERNAME;
  /** The notice after a success. */
  readonly done?: string;
  /** The notice beside a link that is handed over. */
  readonly handsOver?: string;
  /** The page that has the form. Default: that of the user. */
  readonly page?: '/office/users' | '/office/invitations' | '/office/webhooks';
  /** The page of the user who was created, or the list of users. Default: the page of the form. */
  readonly leadsTo?: 'user' | 'list';
};

/** The name of the user is what has to be typed. */
export const USERNAME = Symbol('username');

/** @property action its address @property members those of the request */
export type OfficeForm = ActForm & { readonly action: string; readonly members: readonly string[] };

/** The outcome of a form, which the next page shows. */
export type FormOutcome = {
  readonly form: string;
  /** `null`: it has succeeded. */
  readonly problems: readonly string[] | null;
  readonly typed: Readonly<Record<string, string>>;
  /** A link to hand over to the user. */
  readonly url?: string | undefined;
};
