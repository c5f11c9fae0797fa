import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import type { PageFacts } from '../forms/page-facts.ts';

export type Requirement = 'required' | 'optional' | 'left-out' | 'typed';

export const WITHOUT_SESSION = { mail: 'check-mail', secondFactor: 'second-factor', code: 'log-in' } as const;

/** A form of a page. An absent member means no, unless its comment has a default. @template Name the names of the pages */
export type FormRow<Name extends string = string> = {
  /** The name of the route that the form submits to. */
  readonly submits: string;
  /** What the user or the script fills in: members of the route's body. */
  readonly fields: readonly string[];
  /** A field that the form requires, although it is optional in the route. */
  readonly requiredField?: string;
  /** Whether a field is required. `typed`: the user typed it on the first view, so the page shows it as a text. Default: `required`. */
  readonly requirements?: Readonly<Record<string, (facts: PageFacts) => Requirement>>;
  /** Whether the page may have the form (`hasForm` has further conditions). Default: yes. */
  readonly isOffered?: (facts: PageFacts) => boolean;
  /** The initial values of the form's fields, and the values of hidden fields. */
  readonly defaults?: (facts: PageFacts) => Readonly<Record<string, string>>;
  /** Whether the visitor has to authenticate again before the page shows the fields of the form. Until then, a button stands in their place. */
  readonly isLocked?: (facts: Pick<PageFacts, 'payloads'>) => boolean;
  /** The page to which a success leads by default, or the target. */
  readonly leadsTo: Name | 'target';
  /** The page in place of the target, if there is no target. Default: the account. */
  readonly withoutTarget?: Name;
  /** If the payload of a success has the member, the success leads to the page `on`, whose state has the member then. */
  readonly showsOnce?: { readonly member: string; readonly on: Name };
  /** Where a registration leads that opens no session. The user has to open a mail, add a second factor, or log in by a code. */
  readonly withoutSession?: typeof WITHOUT_SESSION;
  /** Errors of the route that lead to these pages. For all others, see `afterError`. */
  readonly onError?: Readonly<Partial<Record<ErrorCode, Name>>>;
  /** The name of the notice after a success that does not lead to the target. After some registrations, `noticeOf` has another one or none. */
  readonly notice?: string;
  /** The mark in the URL of the target. Default: `logged-in` if the payload has an access token, else none. */
  readonly mark?: 'logged-in' | 'logged-out';
  /** Fields whose texts are in the state of the next page after a success, if that page gets a state. */
  readonly keptFields?: readonly string[];
  /** The form in which this form is only a second button. The button sends the fields of that form to the route of this form. */
  readonly buttonOf?: string;
  /** The text on which the user clicks to unfold the form, by its name in `UserTexts.common`. */
  readonly foldedBehind?: 'change' | 'rename' | 'another-way';
  /** The path of the route that describes the form's link. The script fills the response into the form. */
  readonly previewPath?: `/auth/${string}`;
  /** Browsers may offer passkeys in the field of the account (WebAuthn, conditional mediation). */
  readonly autofillsPasskeys?: true;
  /** Browsers may make the passkey without asking the user (WebAuthn, conditional mediation). */
  readonly conditionalCreate?: true;
  /** Whether the script leads a success over `new-passkey`, if the device can make a passkey, and `to` is no page of the service. */
  readonly offersPasskey?: (facts: PageFacts) => boolean;
  /** The button is marked as last used if the cookie `used_last` has this form (`true`), or one of these forms. */
  readonly marksLastUse?: true | readonly string[];
  /** The form asks for another mail. If the page has a notice, the button takes no clicks for a minute (by the stylesheet). */
  readonly resendsMail?: true;
  /** If the user has passkeys, the script tells the browser the username (WebAuthn, `signalCurrentUserDetails`). */
  readonly renamesUser?: true;
  /** The page has the form only for providers that are linked to the user. */
  readonly linkedOnly?: true;
  /** A success at the provider leads back to this page. */
  readonly returnsToPage?: true;
};

export type PageRow<Name extends string = string> = {
  readonly path: `/auth/${string}`;
  /** `visitor`: for users who are logged in. `stranger`: for those who are not, with the exceptions in `showPage`. Default: for both. */
  readonly audience?: 'visitor' | 'stranger';
  /**
   * The page only leads elsewhere. `to-url`: to the URL in its state, or to the page of the service in the parameter `next`. `to-app`: to the app or the
   * back office in `to`, after a click. `when-proven`: to the target, once this page, or the application in `next`, has proven the key.
   */
  readonly forwards?: 'to-url' | 'to-app' | 'when-proven';
  /** Whom the page registers. `anybody`: if the setting REGISTRATION allows it. */
  readonly registers?: 'anybody' | 'invited';
  /** The page on which the user corrects a mistyped address. */
  readonly correctedOn?: Name;
  /** The form of the page's second view. The URL of this view has the parameter `next`, so that Back in the browser leads to the first view. */
  readonly secondView?: { readonly form: string; readonly next: string };
  /** Whether the page requires the step-up `FACTOR_CHANGE`. */
  readonly stepUp?: true;
  /** Whether the visitor goes on to the target without seeing the page. A visitor who lacks the step-up goes on, too. */
  readonly isSkipped?: (facts: Pick<PageFacts, 'payloads'>) => boolean;
  /** The names of routes whose payloads the page needs. */
  readonly shows?: readonly string[];
  /** Whether the page is needed for links in mails. A service without log-in pages may have these pages. */
  readonly isOfMail?: true;
  /** The forms, by name. A form with the name of its page is posted to the path of the page, any other form to PATH/NAME. */
  readonly forms: Readonly<Record<string, FormRow<Name>>>;
};

export type PageTable = Readonly<Record<string, PageRow>>;

export const RECOVERY_CODES = { member: 'recoveryCodes', on: 'recovery-codes' } as const;

/** Leads to the page `provider`, which leads on to the URL in the payload, since `form-action` (CSP) restricts redirects after a form. */
export const PROVIDER_FORM = {
  ...{ submits: 'start-at-provider', fields: [] },
  leadsTo: 'provider',
  showsOnce: { member: 'url', on: 'provider' },
} as const;

/** With PASSWORDS=optional, the service makes the username, and the user may leave out the password. */
export const NEW_ACCOUNT_REQUIREMENTS = {
  username: ({ passwords }: PageFacts) => (passwords === 'optional' ? 'left-out' : 'required'),
  password: ({ passwords }: PageFacts) => passwords,
} as const;

/** Offers a passkey unless this browser was offered one within a month. */
export const OFFERS_PASSKEY = { offersPasskey: ({ wasOfferedPasskey }: PageFacts) => !wasOfferedPasskey } as const;

export const LOGIN_CODE_FORM = {
  ...{ submits: 'request-login-code', notice: 'code', keptFields: ['account', 'username', 'email', 'resumes'] },
  leadsTo: 'code',
  isOffered: ({ pages }: PageFacts): boolean => pages.has('code'),
} as const;

export const hasPasskeys = ({ payloads }: Pick<PageFacts, 'payloads'>): boolean =>
  (payloads['current-user']?.passkeys ?? 0) > 0;

/** What is stored about the user, as the initial value of a field. */
export const storedText =
  (member: 'username' | 'email' | 'locale', field: string = member) =>
  ({ payloads }: PageFacts) => ({ [field]: payloads['current-user']?.[member] ?? '' });
