import type { LinkPurpose } from '../../../domain/link.ts';
import type { PageFacts } from '../forms/page-facts.ts';
import { type FormRow, NEW_ACCOUNT, OFFERS, type PageTable } from './rows.ts';

const TO_ADDRESS = { fields: ['email'], leadsTo: 'check-mail', keeps: ['email'] } as const;
const RESET = { submits: 'request-password-reset', notice: 'reset', ...TO_ADDRESS } as const;
const VERIFY = { submits: 'request-email-verification', notice: 'verify', ...TO_ADDRESS } as const;
/** Sends the mail again. @param after the forms that may have sent the first one */
const again = (...after: readonly string[]) => ({
  fields: [],
  paced: true as const,
  offered: ({ state }: PageFacts) => state?.typed?.email !== undefined && after.includes(state.form),
  initial: ({ state }: PageFacts) => ({ email: state?.typed?.email ?? '' }),
});

/** The page of a link in a mail. The link alone changes nothing, since mail scanners open it: a click sends its token by the form. */
const linkPage = <Name extends LinkPurpose | 'invitation'>(
  name: Name,
  submits: string,
  fields: readonly string[] = ['token'],
  more: Pick<FormRow, 'preview' | 'requirements' | 'needs' | 'offersPasskey'> = {},
) => ({
  path: `/auth/link/${name}` as const,
  ofMail: true as const,
  forms: { [name]: { submits, fields, leadsTo: 'target' as const, otherwise: 'done' as const, notice: name, ...more } },
});

/** Pages that send a mail, and those of the links in mails. */
export const LINKS = {
  forgot: { path: '/auth/forgot', ofMail: true, forms: { forgot: RESET } },
  verify: {
    path: '/auth/verify',
    ofMail: true,
    forms: {
      verify: {
        ...VERIFY,
        // After a log-in that was refused since the address is not verified.
        initial: ({ state }): Readonly<Record<string, string>> =>
          state?.typed?.account?.includes('@') ? { email: state.typed.account } : {},
      },
    },
  },
  'check-mail': {
    ...{ path: '/auth/check-mail', ofMail: true },
    corrects: 'register',
    forms: { forgot: { ...RESET, ...again('forgot') }, verify: { ...VERIFY, ...again('verify', 'register') } },
  },
  'password-reset': linkPage('password-reset', 'confirm-password-reset', ['token', 'newPassword'], {
    preview: '/auth/password-reset/preview',
  }),
  invitation: {
    ...linkPage('invitation', 'register', ['username', 'email', 'password', 'invitation'], {
      needs: 'invitation',
      requirements: NEW_ACCOUNT,
      ...OFFERS,
    }),
    registers: 'invited',
  },
  'email-verification': linkPage('email-verification', 'confirm-email'),
  'not-me': linkPage('not-me', 'remove-unverified-account'),
  'email-change': linkPage('email-change', 'confirm-email-change', ['token', 'password'], {
    preview: '/auth/email-change/preview',
    requirements: {
      // The session stands for the password, unless the link is of another account.
      password: ({ isVisitor, state }) => {
        const { code, fields = [] } = state?.error ?? {};
        const isMissed = code === 'AUTH_CREDENTIALS_INVALID' || fields.some(({ field }) => field === 'password');
        return isVisitor && !isMissed ? 'left-out' : 'required';
      },
    },
  }),
  'email-change-undo': linkPage('email-change-undo', 'undo-email-change'),
  'factors-undo': linkPage('factors-undo', 'undo-factors'),
  /** Shows what a link in a mail has done. */
  done: { path: '/auth/link/done', ofMail: true, forms: {} },
} as const satisfies PageTable;
