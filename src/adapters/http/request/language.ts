import type { Context } from 'koa';
import {
  BUILT_IN_LOCALES,
  canonicalLocale,
  fallbacksOf,
  LAST_LOCALE,
  preferredLocale,
} from '../../../domain/locale.ts';

/** Characters. Browsers send less than 200. */
const MAX_LENGTH = 1_000;

/** The languages of `Accept-Language` (RFC 9110 §12.5.4), canonical, the preferred first; none if the header is missing or too long. */
export const acceptedLocales = (ctx: Context): string[] =>
  ctx.get('Accept-Language').length > MAX_LENGTH
    ? []
    : ctx.acceptsLanguages().flatMap((language) => canonicalLocale(language) ?? []);

export type PageLocale = (typeof BUILT_IN_LOCALES)[number];

const PAGE_LOCALES: readonly PageLocale[] = BUILT_IN_LOCALES;

/** The language of a page for a user: one that the browser asks for, or else the default one of the service. */
export const pageLocale = (ctx: Context, defaultLocale: string): PageLocale =>
  localeAmong(ctx, defaultLocale, PAGE_LOCALES);

/** The same among others. */
export const localeAmong = <Locale extends string>(
  ctx: Context,
  defaultLocale: string,
  offered: readonly Locale[],
): Locale | typeof LAST_LOCALE => {
  const isOffered = (locale: string): locale is Locale => offered.some((each) => each === locale);
  return fallbacksOf(preferredLocale(acceptedLocales(ctx), offered), defaultLocale).find(isOffered) ?? LAST_LOCALE;
};
