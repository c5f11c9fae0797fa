import { type Html, html, NO_HTML } from '../../../application/templates.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { breakable, pathIn } from './layout.ts';
import type { PageFrame, PageView } from './page-view.ts';
import { filledPage, retryText, type UserPageTemplates } from './user-pages.ts';

type UserFailure = PageFrame & {
  readonly application: PageView['application'];
  readonly error: Pick<AppError, 'code' | 'status' | 'retryAfter'>;
  readonly requestId: string;
  /** The URL of a link that tries again; `null`: no link. */
  readonly retryUrl: string | null;
  /** The path of the log-in page; `null`: the service has none. */
  readonly logInPath: string | null;
};

/** The page of an error below `/auth` that no other page shows. Of the request, it shows only the id. */
export const userFailurePage = (failure: UserFailure, templates: UserPageTemplates): string => {
  const { texts, error, requestId } = failure;
  const { code, status, retryAfter } = error;
  const failedTexts = texts.pages.failed ?? {};
  const reason = failedTexts[code] ?? failedTexts[status] ?? failedTexts.other ?? '';
  const lists: Readonly<Record<string, Html>> = {
    'list.reason': html`<p class="lead">${reason}${retryText(failure, retryAfter)}</p>`,
    'list.ways': html`${linksOf(failure).map(([text, to], at) => html`<p><a${at === 0 ? html` class="button"` : NO_HTML} href="${to}">${failedTexts[text] ?? ''}</a></p>\n`)}`,
    'list.report': html`<p><small>${failedTexts.report ?? ''} <code>${breakable(code)}</code> <code>${requestId}</code></small></p>`,
  };
  return filledPage(failure, templates, {
    template: 'failed',
    title: failedTexts[`title-${status}`] ?? failedTexts.title ?? '',
    isError: true,
    variable: (name) => lists[name] ?? failedTexts[name.replace('text.', '')] ?? '',
  });
};

const linksOf = (failure: UserFailure): readonly (readonly [text: string, to: string])[] => {
  const { site, retryUrl, logInPath, application } = failure;
  const start = logInPath === null ? application : pathIn(site, logInPath);
  return [
    ...(retryUrl === null ? [] : [['again', retryUrl] as const]),
    ...(start === null ? [] : [[logInPath === null ? 'application' : 'log-in', start] as const]),
  ];
};
