import type { LinkPurpose } from '../../../../domain/link.ts';
import type { BUILT_IN_LOCALES } from '../../../../domain/locale.ts';

export type PageLocale = (typeof BUILT_IN_LOCALES)[number];

/** The pages for links in mail, by the last part of their path. */
export type AccountPageName = LinkPurpose;

type FormTexts = {
  readonly button: string;
  /** What is shown after the success. */
  readonly done: string;
};

type PageTexts = FormTexts & {
  readonly title: string;
  readonly lead: string;
  /** The form without a token, if the page has one. */
  readonly without?: FormTexts;
  /** What to do when the link is no longer valid. */
  readonly afterwards: string;
};

export type FieldName = 'email' | 'newPassword' | 'password';

/** What is wrong with a field, by the code of the service; `other` for the codes without a text of their own. */
type Problems = Readonly<Record<string, string>> & { readonly other: string };

/** What the script of the pages says. `{seconds}` is a number. */
type ScriptTexts = {
  readonly wait: string;
  readonly correct: string;
  readonly noToken: string;
  readonly incomplete: string;
  readonly tryAgain: string;
  /** By the code of an error; `other` for those without a text of their own. */
  readonly errors: Problems;
  readonly fields: Readonly<Record<FieldName, Problems>>;
};

/** Everything that the pages for users say, in one language. */
export type PageTextsOfLanguage = {
  readonly pages: Readonly<Record<AccountPageName, PageTexts>>;
  readonly labels: Readonly<Record<FieldName, string>>;
  /** What a field accepts, where that is said before the first try. */
  readonly rules: Readonly<Partial<Record<FieldName, string>>>;
  readonly showPassword: string;
  /** Paragraphs. `{username}`, `{createdAt}` and `{undoUntil}` are filled in by the script. */
  readonly emailChange: readonly string[];
  readonly noScript: string;
  readonly notLoaded: string;
  /** `{brand}` is the name of the product. */
  readonly continueTo: string;
  readonly script: ScriptTexts;
  /** The page of an error of the service. */
  readonly failure: {
    readonly title: string;
    readonly advice: string;
    readonly code: string;
    readonly requestId: string;
  };
};
