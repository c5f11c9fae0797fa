import type { Site } from '../layout.ts';

/** What all pages of the back office have. */
export type PageView = {
  readonly site: Site;
  /** Who looks at it. */
  readonly operator: string;
  /** Tells a second click on a form from a second attempt. */
  readonly once: string;
  readonly said: FormOutcome | null;
  /** Where the operator logs out; `null`: not here. */
  readonly logOutUrl: string | null;
  /** By the name of the act. A service without mail has not all of them. */
  readonly forms: ReadonlyMap<string, OfficeForm>;
  /** By the ids of users whom the page names. */
  readonly usernames: ReadonlyMap<string, string>;
  /** The names of the providers. */
  readonly providers: readonly string[];
  /** What people call the program of a user agent, if that says so. */
  readonly deviceNames: (userAgent: string | null) => string | null;
};

/** The pages with forms that are about no user. */
type ActPage = '/office/users' | '/office/invitations' | '/office/webhooks';

/** How people do what programs do by a request. */
export type ActForm = {
  readonly button: string;
  /** What follows from it. */
  readonly text: string;
  /** What has to be typed, so that nobody does it by mistake: these words, or the name of the user. */
  readonly confirm?: string | typeof USERNAME;
  /** What the page says then. Default: that it is done. */
  readonly done?: string;
  /** What it says of a link that is shown. */
  readonly handsOver?: string;
  /** The page that has it. Default: that of the user. */
  readonly page?: ActPage;
  /** To the user who was created, or from one who is gone. Default: to the page of the form. */
  readonly leadsTo?: 'user' | 'list';
};

/** In place of words that have to be typed. */
export const USERNAME = Symbol('username');

export type OfficeForm = ActForm & {
  /** Where it is sent. */
  readonly action: string;
  /** The members of the request. */
  readonly members: readonly string[];
};

/** What a form says on the page that it leads to. */
export type FormOutcome = {
  readonly form: string;
  /** What was wrong, line by line; `null`: it is done. */
  readonly problems: readonly string[] | null;
  readonly typed: Readonly<Record<string, string>>;
  /** What is handed over to the user. */
  readonly url?: string | undefined;
};
