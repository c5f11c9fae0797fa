import type { Context } from 'koa';
import { canonicalLocale, fallbacksOf, LAST_LOCALE, preferredLocale } from '../../../domain/locale.ts';

/** Characters. Browsers send less than 200. */
const MAX_LENGTH = 1_000;

/** The languages of `Accept-Language` (RFC 9110 §12.5.4), canonical, the preferred first; none if the header is missing or too long. */
export const acceptedLocales = (ctx: Context): string[] =>
  ctx.get('Accept-Language').length > MAX_LENGTH
    ? []
    : ctx.acceptsLanguages().flatMap((language) => canonicalLocale(language) ?? []);

/** The language of a page for a user: one of those offered that the browser asks for, or else the default one of the service. */
export const pageLocale = (ctx: Context, defaultLocale: string, offered: readonly string[]): string =>
  fallbacksOf(preferredLocale(acceptedLocales(ctx), offered), defaultLocale).find((each) => offered.includes(each)) ??
  LAST_LOCALE;
