import type { LinkPurpose } from '../../../domain/link.ts';
import type { PageFacts } from '../forms/page-facts.ts';
import { type FormRow, NEW_ACCOUNT_REQUIREMENTS, OFFERS_PASSKEY, type PageTable, WITHOUT_SESSION } from './rows.ts';

const MAIL_FORM = { fields: ['email'], leadsTo: 'check-mail', keptFields: ['email'] } as const;
const RESET_FORM = { submits: 'request-password-reset', notice: 'reset', ...MAIL_FORM } as const;
const VERIFICATION_FORM = { submits: 'request-email-verification', notice: 'verify', ...MAIL_FORM } as const;
/** A form that asks for a mail again. @param forms the names of the forms that may have asked for it first */
const resendAfter = (...forms: readonly string[]) => ({
  fields: [],
  resendsMail: true as const,
  isOffered: ({ state }: PageFacts) => state?.typed?.email !== undefined && forms.includes(state.form),
  defaults: ({ state }: PageFacts) => ({ email: state?.typed?.email ?? '' }),
});

/** The page of a link with a token. Opening it does not use up the link, since mail scanners open links: the user sends the token by a form. */
const linkPage = <Name extends LinkPurpose | 'invitation'>(
  name: Name,
  submits: string,
  fields: readonly string[] = ['token'],
  options: Pick<FormRow, 'previewPath' | 'requirements' | 'requiredField' | 'offersPasskey' | 'withoutSession'> = {},
) => ({
  path: `/auth/link/${name}` as const,
  isOfMail: true as const,
  forms: { [name]: { submits, fields, leadsTo: 'target', withoutTarget: 'done', notice: name, ...options } as const },
});

export const LINK_PAGES = {
  forgot: { path: '/auth/forgot', isOfMail: true, forms: { forgot: RESET_FORM } },
  verify: {
    path: '/auth/verify',
    isOfMail: true,
    forms: {
      verify: {
        ...VERIFICATION_FORM,
        // The address that was typed at a log-in. The log-in failed because this address is not verified.
        defaults: ({ state }): Readonly<Record<string, string>> =>
          state?.typed?.account?.includes('@') ? { email: state.typed.account } : {},
      },
    },
  },
  'check-mail': {
    ...{ path: '/auth/check-mail', isOfMail: true },
    correctedOn: 'register',
    forms: {
      forgot: { ...RESET_FORM, ...resendAfter('forgot') },
      verify: { ...VERIFICATION_FORM, ...resendAfter('verify', 'register') },
    },
  },
  'password-reset': linkPage('password-reset', 'confirm-password-reset', ['token', 'newPassword'], {
    previewPath: '/auth/password-reset/preview',
  }),
  invitation: {
    ...linkPage('invitation', 'register', ['username', 'email', 'password', 'invitation'], {
      requiredField: 'invitation',
      ...{ requirements: NEW_ACCOUNT_REQUIREMENTS, withoutSession: WITHOUT_SESSION },
      ...OFFERS_PASSKEY,
    }),
    registers: 'invited',
  },
  'email-verification': linkPage('email-verification', 'confirm-email'),
  'not-me': linkPage('not-me', 'remove-unverified-account'),
  'email-change': linkPage('email-change', 'confirm-email-change', ['token', 'password'], {
    previewPath: '/auth/email-change/preview',
    requirements: {
      // A visitor who is logged in needs no password, unless the route has demanded it, for instance for the link of another account.
      password: ({ isVisitor, state }) => {
        const { code, fields = [] } = state?.error ?? {};
        const isDemanded = code === 'AUTH_CREDENTIALS_INVALID' || fields.some(({ field }) => field === 'password');
        return isVisitor && !isDemanded ? 'left-out' : 'required';
      },
    },
  }),
  'email-change-undo': linkPage('email-change-undo', 'undo-email-change'),
  'factors-undo': linkPage('factors-undo', 'undo-factors'),
  /** Shows the notice of the form that succeeded on the page of a link. */
  done: { path: '/auth/link/done', isOfMail: true, forms: {} },
} as const satisfies PageTable;
