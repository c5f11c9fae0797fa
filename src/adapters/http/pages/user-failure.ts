import { html, NOTHING } from '../../../application/html.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import type { PageLocale } from '../request/language.ts';
import { layout, type UserSite } from './layout.ts';

type Texts = Readonly<Record<'title' | 'advice' | 'tryAgain' | 'code' | 'requestId', string>> & {
  readonly errors: Readonly<Partial<Record<ErrorCode, string>>>;
};

export const FAILURE_TEXTS: Readonly<Record<PageLocale, Texts>> = {
  en: {
    title: 'That did not work',
    advice: 'Please open the page again in a moment.',
    tryAgain: 'Try again in {seconds} seconds.',
    code: 'Code',
    requestId: 'Request id',
    errors: { CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: 'Too many requests.' },
  },
  de: {
    title: 'Das hat nicht funktioniert',
    advice: 'Bitte öffnen Sie die Seite gleich noch einmal.',
    tryAgain: 'Versuchen Sie es in {seconds} Sekunden noch einmal.',
    code: 'Code',
    requestId: 'Kennung der Anfrage',
    errors: { CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: 'Zu viele Anfragen.' },
  },
};

/** The page of an error for an end user. What it shows besides is for the operator, to whom the user may turn. */
export const userFailurePage = (site: UserSite, error: AppError, requestId: string, locale: PageLocale): string => {
  const { errors, ...texts } = FAILURE_TEXTS[locale];
  const { code, retryAfter } = error;
  return layout(site, {
    title: texts.title,
    forUsers: { ...site, locale },
    main: html`<h1>${texts.title}</h1>
<p class="lead">${errors[code] ?? texts.advice}</p>
${retryAfter === undefined ? NOTHING : html`<p>${texts.tryAgain.replace('{seconds}', `${retryAfter}`)}</p>`}
<dl>
<dt>${texts.code}</dt><dd><code>${code}</code></dd>
<dt>${texts.requestId}</dt><dd><code>${requestId}</code></dd>
</dl>`,
  });
};
