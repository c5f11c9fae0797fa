import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import type { PageFacts } from '../forms/page-facts.ts';

export type Requirement = 'required' | 'optional' | 'left-out' | 'given';

/** A form of a page. @template Name the names of the pages */
export type FormRow<Name extends string = string> = {
  /** The name of the route that the form submits to. */
  readonly submits: string;
  /** What the user fills in or chooses: members of the body, the query and the params of that route. */
  readonly fields: readonly string[];
  /** A field that the form requires, although it is optional in the route. */
  readonly needs?: string;
  /** Whether a field is required; `given`: it was typed on the first view, and is shown as a text. Default: it is required. */
  readonly requirements?: Readonly<Record<string, (facts: PageFacts) => Requirement>>;
  /** Whether the page has the form. Default: always. */
  readonly offered?: (facts: PageFacts) => boolean;
  /** The initial values of its fields, and of hidden ones. */
  readonly initial?: (facts: PageFacts) => Readonly<Record<string, string>>;
  /** Whether the visitor has to authenticate again before the form is filled in. Until then, it is its button. */
  readonly locked?: (facts: Pick<PageFacts, 'payloads'>) => boolean;
  /** Where a success leads. */
  readonly leadsTo: Name | 'target';
  /** Where a success leads if there is no target. Default: to the account. */
  readonly otherwise?: Name;
  /** A success with this member in its payload leads to this page, which shows it once. */
  readonly shows?: { readonly member: string; readonly on: Name };
  /** Where a success without a session leads: the user has to open a mail, to add a second factor, or to log in with a code. */
  readonly accepted?: { readonly mail: Name; readonly login: Name; readonly code: Name };
  /** Errors that lead to another page. All others lead back to the form. */
  readonly onError?: Readonly<Partial<Record<ErrorCode, Name>>>;
  /** A notice, which the next page shows. */
  readonly notice?: string;
  /** The mark in the address of the target. Default: `logged-in`, if the form has opened a session. */
  readonly mark?: 'logged-in' | 'logged-out';
  /** Fields whose text is handed to the next page. */
  readonly keeps?: readonly string[];
  /** The form to which it adds a button, which sends the fields of that form. */
  readonly buttonOf?: string;
  /** The text of `common` that unfolds the form. */
  readonly foldedBehind?: 'change' | 'rename' | 'another-way';
  /** The path of the route that tells what the form's link would do. The script shows its answer before a click. */
  readonly preview?: `/auth/${string}`;
  /** Browsers offer passkeys in the field of the account. */
  readonly autofill?: true;
  /** Browsers may make the passkey without asking. */
  readonly silent?: true;
  /** Whether a success leads to `new-passkey` first, if the device can make a passkey. */
  readonly offersPasskey?: (facts: PageFacts) => boolean;
  /** The button says if it was used last, or one of these forms, to which it leads. */
  readonly recalled?: true | readonly string[];
  /** Sends another mail. After the first one, the stylesheet disables its button for a minute. */
  readonly paced?: true;
  /** The script tells the passkeys of the browser the new name of the user. */
  readonly renames?: true;
  /** Has buttons only for providers that are linked to the user. */
  readonly linkedOnly?: true;
  /** The log-in at a provider leads back to this page. */
  readonly returns?: true;
};

export type PageRow<Name extends string = string> = {
  readonly path: `/auth/${string}`;
  /** `visitor`: others log in first. `stranger`: who is logged in goes on to the target. Default: anybody. */
  readonly for?: 'visitor' | 'stranger';
  /**
   * The page goes on by itself. `to-url`: to the URL of its state, or to the page of the service in `next`. `to-app`: to the app in `to`, after
   * a click. `when-proven`: to the target, with a proof by this page, or by the application in `next`.
   */
  readonly leadsOn?: 'to-url' | 'to-app' | 'when-proven';
  /** Its form registers anybody, if the operator allows that, or those who are invited. */
  readonly registers?: 'anybody' | 'invited';
  /** The page on which a mistyped address can be corrected. */
  readonly corrects?: Name;
  /** The form of its second view, whose address has `next`, so that Back leads to the first one. Both keep for a minute what was typed. */
  readonly second?: { readonly form: string; readonly next: string };
  /** Whether the visitor must have authenticated lately. */
  readonly stepUp?: true;
  /** Whether the visitor goes on to the target without seeing the page. With `stepUp`, so does who lacks that. */
  readonly skips?: (facts: Pick<PageFacts, 'payloads'>) => boolean;
  /** The names of routes whose payloads the page shows. */
  readonly shows?: readonly string[];
  /** Whether the page belongs to links in mails. Services without other pages for users may have those. */
  readonly ofMail?: true;
  /** By name. A form with the name of its page has the path of the page, the others one below it. */
  readonly forms: Readonly<Record<string, FormRow<Name>>>;
};

export type PageTable = Readonly<Record<string, PageRow>>;

export const CODES = { member: 'recoveryCodes', on: 'recovery-codes' } as const;

/** A form for each provider. It leads to the page `provider`, which goes on: the policy of the first page forbids forms to lead to other sites. */
export const AT_PROVIDER = {
  ...{ submits: 'start-at-provider', fields: [] },
  leadsTo: 'provider',
  shows: { member: 'url', on: 'provider' },
} as const;

/** With PASSWORDS=optional, the service makes the username. */
export const NEW_ACCOUNT = {
  username: ({ passwords }: PageFacts) => (passwords === 'optional' ? 'left-out' : 'required'),
  password: ({ passwords }: PageFacts) => passwords,
} as const;

/** Offers a passkey once a month. */
export const OFFERS = { offersPasskey: ({ wasOffered }: PageFacts) => !wasOffered } as const;

export const BY_CODE = { submits: 'request-login-code', leadsTo: 'code', notice: 'code', keeps: ['account'] } as const;

export const hasCodes = ({ pages }: PageFacts): boolean => pages.has('code');
export const hasPasskeys = ({ payloads }: Pick<PageFacts, 'payloads'>): boolean =>
  (payloads['current-user']?.passkeys ?? 0) > 0;

/** The stored text of the user, for a field. */
export const ownText =
  (member: 'username' | 'email' | 'locale', field: string = member) =>
  ({ payloads }: PageFacts) => ({ [field]: payloads['current-user']?.[member] ?? '' });
