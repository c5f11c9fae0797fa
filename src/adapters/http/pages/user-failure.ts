import { type Html, html, NOTHING } from '../../../application/templates.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { breakable, pathIn } from './layout.ts';
import type { PageFrame, PageView } from './page-view.ts';
import { filledPage, tryAgain, type UserPageFiles } from './user-pages.ts';

type UserFailure = PageFrame & {
  readonly application: PageView['application'];
  readonly error: Pick<AppError, 'code' | 'status' | 'retryAfter'>;
  readonly requestId: string;
  /** A link to try again; `null`: that would not help. */
  readonly again: string | null;
  /** The path of the page that logs in; `null`: there is none. */
  readonly logIn: string | null;
};

/** The page of an error that no form can show. Of the request, it shows only the id. */
export const userFailurePage = (failure: UserFailure, files: UserPageFiles): string => {
  const { texts, error, requestId } = failure;
  const { code, status, retryAfter } = error;
  const of = texts.pages.failed ?? {};
  const reason = of[code] ?? of[status] ?? of.other ?? '';
  const lists: Readonly<Record<string, Html>> = {
    'list.reason': html`<p class="lead">${reason}${tryAgain(failure, retryAfter)}</p>`,
    'list.ways': html`${waysOf(failure).map(([text, to], at) => html`<p><a${at === 0 ? html` class="button"` : NOTHING} href="${to}">${of[text] ?? ''}</a></p>\n`)}`,
    'list.report': html`<p><small>${of.report ?? ''} <code>${breakable(code)}</code> <code>${requestId}</code></small></p>`,
  };
  return filledPage(failure, files, {
    template: 'failed',
    title: of[`title-${status}`] ?? of.title ?? '',
    isError: true,
    variable: (name) => lists[name] ?? of[name.replace('text.', '')] ?? '',
  });
};

const waysOf = ({ site, again, logIn, application }: UserFailure): readonly (readonly [text: string, to: string])[] => {
  const start = logIn === null ? application : pathIn(site, logIn);
  return [
    ...(again === null ? [] : [['again', again] as const]),
    ...(start === null ? [] : [[logIn === null ? 'application' : 'log-in', start] as const]),
  ];
};
