import type { MailName } from '../../domain/happenings.ts';
import type { Templates } from '../templates.ts';

/** The variables that are addresses of pages. All but the last two have a token, with which anybody may act. */
const LINK_VARIABLES = ['link', 'confirmLink', 'disownLink', 'undoLink', 'resetPage', 'codePage'] as const;
export type LinkVariable = (typeof LINK_VARIABLES)[number];

export const isLinkVariable = (name: string): name is LinkVariable => LINK_VARIABLES.some((each) => each === name);

/** The variables whose texts come from the service, its configuration or its operator. All others are sanitized. */
export const isTrustedVariable = (name: string): boolean =>
  isLinkVariable(name) || ['brand', 'network', 'apps', 'code', 'subject', 'locale'].includes(name);

/** Of the layout around every mail, which is HTML. */
export const LAYOUT_VARIABLES = ['content', 'footer', 'subject', 'locale', 'direction', 'brand'] as const;

/** A value before it is a text: some depend on the language. An empty text or list is shown as a dash. */
export type MailValue =
  | string
  /** Names that clients choose: each is shown in quotation marks. */
  | readonly string[]
  /** Milliseconds, a multiple of 1,000. */
  | { readonly duration: number }
  | { readonly time: number };

/** What mails are made of in a language. A mail is its subject and its paragraphs. */
export type MailTexts = {
  readonly direction: string;
  /** Below every mail. */
  readonly footer: string;
  /** Paragraphs that several mails have, each as a paragraph that is its placeholder: `{happened}`. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
  readonly mails: Readonly<Record<MailName, readonly string[]>>;
};
/** The layout, and texts that may lack what others have. */
export type MailTemplates = Templates<Partial<MailTexts>>;
