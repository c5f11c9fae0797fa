import type { Site } from '../layout.ts';

export type PageView = {
  readonly site: Site;
  readonly operator: string;
  /** A random number for the forms, by which a second click can be told from a second attempt. */
  readonly once: string;
  readonly outcome: FormOutcome | null;
  /** `null`: a proxy logs operators in and out. */
  readonly logOutUrl: string | null;
  /** The forms that the operator may submit, by the names of their acts. */
  readonly forms: ReadonlyMap<string, OfficeForm>;
  /** The usernames of users whom the page names, by their ids. */
  readonly usernames: ReadonlyMap<string, string>;
  readonly providers: readonly string[];
  /** The values that the filter of the page suggests. */
  readonly suggestions: readonly string[];
  readonly deviceNames: (userAgent: string | null) => string | null;
};

export type ActForm = {
  readonly button: string;
  /** Says what the act does. */
  readonly text: string;
  /** The words that the operator has to type, which prevents mistakes. */
  readonly confirm?: string | typeof USERNAME;
  readonly doneText?: string;
  /** The page that has the form. Default: the page of the user. */
  readonly page?: '/office/users' | '/office/invitations' | '/office/webhooks';
  /** Where a success leads: to the page of the new user, or to the list of users. Default: the page of the form. */
  readonly leadsTo?: 'user' | 'list';
};

/** In place of the words to type: the operator types the name of the user. */
export const USERNAME = Symbol('username');

/** @property action the path to which the form is posted @property members the members of the request's body that the form may have */
export type OfficeForm = ActForm & { readonly action: string; readonly members: readonly string[] };

/** The outcome of a form. The next page shows it. */
export type FormOutcome = {
  readonly form: string;
  /** `null`: the act has succeeded. */
  readonly problems: readonly string[] | null;
  readonly typed: Readonly<Record<string, string>>;
  /** A link that the operator hands over to the user. */
  readonly url?: string | undefined;
};
