import { html, NOTHING } from '../../../application/html.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { PAGE_TEXTS } from './account.ts';
import { layout, type UserSite } from './layout.ts';
import type { PageLocale } from './texts/texts.ts';

/** The page of an error for an end user. What it shows besides is for the operator, to whom the user may turn. */
export const userFailurePage = (site: UserSite, error: AppError, requestId: string, locale: PageLocale): string => {
  const { failure, script } = PAGE_TEXTS[locale];
  const { code, retryAfter } = error;
  return layout(site, {
    title: failure.title,
    forUsers: { ...site, locale },
    main: html`<h1>${failure.title}</h1>
<p class="lead">${script.errors[code] ?? failure.advice}</p>
${retryAfter === undefined ? NOTHING : html`<p>${script.tryAgain.replace('{seconds}', `${retryAfter}`)}</p>`}
<dl>
<dt>${failure.code}</dt><dd><code>${code}</code></dd>
<dt>${failure.requestId}</dt><dd><code>${requestId}</code></dd>
</dl>`,
  });
};
