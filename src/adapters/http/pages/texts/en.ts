import { PASSWORD_MAX_BYTES, PASSWORD_MIN_CODE_POINTS } from '../../../../domain/password.ts';
import type { PageTextsOfLanguage } from './texts.ts';

const LOG_IN = 'You can close this page and log in.';

export const EN: PageTextsOfLanguage = {
  pages: {
    'password-reset': {
      title: 'Set a new password',
      lead: 'A new password ends every session of the account: all devices have to log in again.',
      button: 'Set the password',
      done: `The password is changed. ${LOG_IN}`,
      without: {
        button: 'Send a link',
        done: 'If the address has an account, an email with a link is on its way.',
      },
      afterwards: 'You can ask for another link here.',
    },
    'email-verification': {
      title: 'Confirm your email address',
      lead: 'You confirm that the account and the address are yours. If this browser is not logged in, passkeys, authenticator apps and sessions that the account has so far are removed, since somebody else may have added them.',
      button: 'Confirm',
      done: `The address is confirmed. ${LOG_IN}`,
      without: {
        button: 'Send another link',
        done: 'If the address has an account that is not confirmed, an email with a link is on its way.',
      },
      afterwards: 'If you have confirmed the address before, you can log in. If not, ask for another link here.',
    },
    'not-me': {
      title: 'You did not register?',
      lead: 'Somebody has registered an account with your address. You can remove it. Nothing else happens.',
      button: 'Remove the account',
      done: 'The account is removed. You can close this page.',
      afterwards: 'If you have used it before, the account is removed. You can close this page.',
    },
    'email-change': {
      title: 'Confirm the new email address',
      lead: 'From then on, the account has this address, and mail about it comes here. If it is not your account, close this page.',
      button: 'Confirm',
      done: 'The account has the new address now. You can close this page.',
      afterwards: 'If you have used it before, the address is changed. If not, log in and change it again.',
    },
    'email-change-undo': {
      title: 'Restore your email address',
      lead: 'The account gets its former address back, and every session ends. Passkeys and authenticator apps that were added in the week before the change or since are removed. You get an email to set a new password.',
      button: 'Restore the address',
      done: 'The address is restored, and all sessions have ended. Set a new password with the link in the next email.',
      afterwards: 'If you have used it before, the address is restored. You can close this page.',
    },
    'factors-undo': {
      title: 'Undo changes of your account',
      lead: 'Passkeys and authenticator apps that were added since the change are removed, the password stops working, and every session ends. You get an email to set a new password.',
      button: 'Undo the changes',
      done: 'The changes are undone, and all sessions have ended. Set a new password with the link in the next email.',
      afterwards: 'If you have used it or a similar one before, the changes are undone. You can close this page.',
    },
  },
  labels: { email: 'Email', newPassword: 'New password', password: 'Password of the account' },
  rules: {
    newPassword: `At least ${PASSWORD_MIN_CODE_POINTS} characters, at most ${PASSWORD_MAX_BYTES} bytes (UTF-8). Any characters, also blanks. Not a common password, and not your username or email address.`,
  },
  showPassword: 'Show the password',
  emailChange: [
    'The account is {username}, registered on {createdAt}.',
    'If you confirm, a former address of the account can take it back until {undoUntil}.',
  ],
  noScript: 'This page needs JavaScript: the link holds a token that is sent to nobody before you agree.',
  notLoaded: 'The script of this page did not load. Open the link in the email again.',
  continueTo: 'Continue to {brand}',
  script: {
    wait: 'Please wait…',
    correct: 'Please correct the field.',
    noToken:
      'This page is opened by the link in an email. The address that you have opened is not complete: open the link again.',
    incomplete: 'The link is not complete.',
    tryAgain: 'Try again in {seconds} seconds.',
    errors: {
      AUTH_LINK_INVALID: 'The link is not valid.',
      AUTH_USER_DUPLICATE: 'This address belongs to another account.',
      AUTH_STEP_UP_REQUIRED: 'The account has a second factor: log in with it first, then open the link again.',
      CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: 'Too many requests.',
      CLIENT_NETWORK_FAILED: 'No response. Check your connection, then try again.',
      other: 'That did not work. Please try again later.',
    },
    fields: {
      email: { other: 'must be an email address' },
      newPassword: {
        too_short: `must have at least ${PASSWORD_MIN_CODE_POINTS} characters`,
        too_long: `must have at most ${PASSWORD_MAX_BYTES} bytes of UTF-8`,
        too_common: 'must not be a common password, your username, your email address or its part before the @',
        other: 'must be another password',
      },
      password: { too_short: 'must not be empty', other: 'is not that of the account' },
    },
  },
  failure: {
    title: 'That did not work',
    advice: 'Please open the page again in a moment.',
    code: 'Code',
    requestId: 'Request id',
  },
};
