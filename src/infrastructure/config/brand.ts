import * as v from 'valibot';
import * as form from './schemas.ts';
import { baseUrlOf, type ServiceValues } from './service.ts';
import type { ValuesOf, Variable } from './variable.ts';

/** What users see of the product: in mails, and on the pages for their links. */
export const BRAND_VARIABLES = {
  BRAND_NAME: {
    schema: v.optional(form.brandName),
    expected: '1 to 60 visible characters',
    unset: 'the host of BASE_URL',
    meaning:
      'The name of the product, in mails, on the pages for their links, in authenticator apps and in questions for passkeys.',
  },
  BRAND_LOGO_URL: {
    schema: v.optional(form.logoUrl),
    expected: 'an https URL of a picture, without credentials and fragment',
    unset: 'no logo',
    meaning: 'The logo on the pages for links in mail. Browsers load it from its own host.',
  },
  BRAND_COLOR: {
    schema: v.optional(form.color),
    expected: 'a colour such as #14643a',
    unset: 'green',
    meaning:
      'The colour of the buttons on the pages for links in mail. Their text is black or white, which can be read better on it.',
  },
  DEFAULT_LOCALE: {
    schema: form.locale,
    expected: 'a language tag such as en or de-AT',
    default: 'en',
    meaning:
      'The language of mails and pages for users who have no other one that there are texts in. English (en) and German (de) are built in.',
  },
  MAIL_TEMPLATES: {
    schema: v.optional(form.path),
    expected: 'a path without surrounding spaces, not starting with ~',
    unset: 'the built-in templates',
    meaning:
      'A directory of your own texts of mails, in place of the built-in ones: <language>/<mail>.txt and .html. npx tandem mail copy DIR makes one.',
  },
} as const satisfies Record<string, Variable>;

type Values = ValuesOf<typeof BRAND_VARIABLES> & ServiceValues;

export const brandSettings = (values: Values) => ({
  brand: {
    name: values.BRAND_NAME ?? new URL(baseUrlOf(values)).host,
    /** `null`: the pages show the name. */
    logoUrl: values.BRAND_LOGO_URL ?? null,
    /** `#rrggbb`; `null`: that of the stylesheet. */
    color: values.BRAND_COLOR ?? null,
  },
  /** Canonical. */
  defaultLocale: values.DEFAULT_LOCALE,
  /** A directory; `null`: only the built-in ones. */
  mailTemplates: values.MAIL_TEMPLATES ?? null,
});
