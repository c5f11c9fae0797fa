import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import type { PageFacts } from '../forms/page-facts.ts';

/** @template Name those of the pages, which the tables make. */
export type FormRow<Name extends string = string> = {
  /** The name of the route that the form submits to. */
  readonly submits: string;
  /** What is filled in or chosen: members of the body, the query and the params of that route. */
  readonly fields: readonly string[];
  /** A field that the form needs, which the route could do without. */
  readonly needs?: string;
  /** Fields that need not always be filled in. */
  readonly eases?: Readonly<Record<string, (facts: PageFacts) => 'required' | 'optional' | 'left-out'>>;
  /** When the form is there; always, unless given. */
  readonly offered?: (facts: PageFacts) => boolean;
  /** What its fields, and hidden ones, begin with. */
  readonly begins?: (facts: PageFacts) => Readonly<Record<string, string>>;
  /** Where a success leads. */
  readonly leadsTo: Name | 'target';
  /** Where it leads if the visitor came for nothing else; the account, unless given. */
  readonly otherwise?: Name;
  /** Where a success leads whose payload has this member, which the page shows once. */
  readonly shows?: { readonly member: string; readonly on: Name };
  /** Where a success leads without a session: it waits for a mail, for the second half of a log-in, or for a log-in with a code. */
  readonly accepted?: { readonly mail: Name; readonly login: Name; readonly code: Name };
  /** Errors that lead to another page. All others lead back to the form. */
  readonly on?: Readonly<Partial<Record<ErrorCode, Name>>>;
  /** The notice that the page shows to which it leads. */
  readonly notice?: string;
  /** What the target is told, unless the form has opened a session. */
  readonly tells?: 'logged-in' | 'logged-out';
  /** What was typed into these fields is handed on to the page to which it leads. */
  readonly keeps?: readonly string[];
  /** The form of the page that has it as another button: it sends the fields of that one. */
  readonly buttonOf?: string;
  /** The text of `common` behind which the form is, until somebody presses it. */
  readonly behind?: 'change' | 'rename' | 'another-way';
  /** The route that tells what the form's link would do, by its path. The script asks it, and shows the answer before a click. */
  readonly preview?: `/auth/${string}`;
  /** Browsers offer its passkey in the field of the account. */
  readonly autofill?: true;
  /** Browsers make its passkey without a question where they can. */
  readonly silent?: true;
  /** Whether its success leads to `new-passkey` first, where the device can make a passkey. */
  readonly offers?: (facts: PageFacts) => boolean;
  /** Its button says the next time that it was used. */
  readonly recalled?: true;
  /** Sends another mail. Right after the first one, its button waits for a minute: the stylesheet counts. */
  readonly paced?: true;
  /** Browsers show at passkeys the name that it changes. */
  readonly renames?: true;
  /** Has a button for those providers alone with which the user can log in. */
  readonly linkedOnly?: true;
  /** A sign-in at a provider leads back to the page. */
  readonly returns?: true;
};

export type PageRow<Name extends string = string> = {
  readonly path: `/auth/${string}`;
  /** `visitor`: those who are logged in; the others are asked to log in first. `stranger`: those who are logged in go on. Default: anybody. */
  readonly for?: 'visitor' | 'stranger';
  /**
   * Where it leads on to: the URL in its state, or the page of the service that `next` has; the app in `to`; what the visitor came for, once
   * the key is proven, which the application in `next` may have.
   */
  readonly leadsOn?: 'to-url' | 'to-app' | 'when-proven';
  /** Whose accounts its form makes: of anybody, as long as the operator lets anybody register, or of those who were invited. */
  readonly registers?: 'anybody' | 'invited';
  /** The page whose form can be sent again, if the address is mistyped to which a mail has gone. */
  readonly corrects?: Name;
  /** Whether the visitor has to have presented a factor a moment ago. Asked for before the forms. */
  readonly stepUp?: true;
  /** Who need not see the page, and goes on to what they came for; with `stepUp`, also who lacks that. */
  readonly skips?: (facts: Pick<PageFacts, 'payloads'>) => boolean;
  /** The names of routes whose payloads the page shows. */
  readonly shows?: readonly string[];
  /** Whether links in mail lead there, or from there: then the page is there whenever the service has the pages for them. */
  readonly ofMail?: true;
  /** By name. The one that is called as its page has the path of the page, the others one below it. */
  readonly forms: Readonly<Record<string, FormRow<Name>>>;
};

export type PageTable = Readonly<Record<string, PageRow>>;

/** Recovery codes are shown once. */
export const CODES = { member: 'recoveryCodes', on: 'recovery-codes' } as const;

/** A button for each provider. Another site is reached from a page of its own: browsers check where a form leads against the policy of its page. */
export const AT_PROVIDER = {
  ...{ submits: 'start-at-provider', fields: [] },
  leadsTo: 'provider',
  shows: { member: 'url', on: 'provider' },
} as const;

/** Where users need no password, a username is derived. */
export const NEW_ACCOUNT = {
  username: ({ passwords }: PageFacts) => (passwords === 'optional' ? 'left-out' : 'required'),
  password: ({ passwords }: PageFacts) => passwords,
} as const;

/** By a mail, in place of the password. */
export const BY_CODE = { submits: 'request-login-code', leadsTo: 'code', notice: 'code', keeps: ['account'] } as const;

export const hasCodes = ({ pages }: PageFacts): boolean => pages.has('code');
export const hasPasskeys = ({ payloads }: Pick<PageFacts, 'payloads'>): boolean =>
  (payloads['current-user']?.passkeys ?? 0) > 0;

/** What is stored about the user. */
export const ownText =
  (member: 'username' | 'email' | 'locale', field: string = member) =>
  ({ payloads }: PageFacts) => ({ [field]: payloads['current-user']?.[member] ?? '' });
