import { type Html, html, NOTHING } from '../../../application/html.ts';
import { layout, pathIn, type Site } from './layout.ts';

type Field = {
  readonly name: string;
  readonly label: string;
  readonly type: 'email' | 'password';
  readonly autocomplete: string;
};

type Form = {
  /** The name by which `account-page.js` knows what to do. */
  readonly action: string;
  readonly button: string;
  readonly done: string;
  readonly field?: Field;
  /** Paragraphs that `account-page.js` completes before it shows the form: `data-value` names a member of the preview. */
  readonly preview?: Html;
};

type AccountPage = {
  readonly title: string;
  readonly lead: string;
  /** Shown when the link has a token. */
  readonly withToken: Form;
  /** Shown without a token, and when the link is no longer valid. */
  readonly without?: Form;
  /** What to do when the link is no longer valid. */
  readonly afterwards: string;
};

const EMAIL: Field = { name: 'email', label: 'Email', type: 'email', autocomplete: 'email' };
const NEW_PASSWORD: Field = {
  name: 'newPassword',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
};

const PASSWORD: Field = {
  name: 'password',
  label: 'Password of the account',
  type: 'password',
  autocomplete: 'current-password',
};

const EMAIL_CHANGE = html`<p hidden>The account is <strong data-value="username"></strong>, registered on <time data-value="createdAt"></time>.</p>
<p hidden>If you confirm, a former address of the account can take it back until <time data-value="undoUntil"></time>.</p>`;

const LOG_IN = 'You can close this page and log in.';

/** The pages for links in mail, by the last part of their path. Opening one has no effect, since mail scanners follow links. */
export const ACCOUNT_PAGES = {
  'password-reset': {
    title: 'Set a new password',
    lead: 'A new password ends every session of the account: all devices have to log in again.',
    withToken: {
      action: 'reset-password',
      field: NEW_PASSWORD,
      button: 'Set the password',
      done: `The password is changed. ${LOG_IN}`,
    },
    without: {
      action: 'request-password-reset',
      field: EMAIL,
      button: 'Send a link',
      done: 'If the address has an account, an email with a link is on its way.',
    },
    afterwards: 'You can ask for another link here.',
  },
  'email-verification': {
    title: 'Confirm your email address',
    lead: 'You confirm that the account and the address are yours.',
    withToken: { action: 'verify-email', button: 'Confirm', done: `The address is confirmed. ${LOG_IN}` },
    without: {
      action: 'request-email-verification',
      field: EMAIL,
      button: 'Send another link',
      done: 'If the address has an account that is not confirmed, an email with a link is on its way.',
    },
    afterwards: 'If you have confirmed the address before, you can log in. If not, ask for another link here.',
  },
  'not-me': {
    title: 'You did not register?',
    lead: 'Somebody has registered an account with your address. You can remove it. Nothing else happens.',
    withToken: {
      action: 'refuse-registration',
      button: 'Remove the account',
      done: 'The account is removed. You can close this page.',
    },
    afterwards: 'If you have used it before, the account is removed. You can close this page.',
  },
  'email-change': {
    title: 'Confirm the new email address',
    lead: 'From then on, the account has this address, and mail about it comes here. If it is not your account, close this page.',
    withToken: {
      action: 'confirm-email-change',
      preview: EMAIL_CHANGE,
      field: PASSWORD,
      button: 'Confirm',
      done: 'The account has the new address now. You can close this page.',
    },
    afterwards: 'If you have used it before, the address is changed. If not, log in and change it again.',
  },
  'email-change-undo': {
    title: 'Restore your email address',
    lead: 'The account gets its former address back, and every session ends. You get an email to set a new password.',
    withToken: {
      action: 'undo-email-change',
      button: 'Restore the address',
      done: 'The address is restored, and all sessions have ended. Set a new password with the link in the next email.',
    },
    afterwards: 'If you have used it before, the address is restored. You can close this page.',
  },
} as const satisfies Record<string, AccountPage>;

export type AccountPageName = keyof typeof ACCOUNT_PAGES;

type UserSite = Site & {
  /** The origin of the application to which the pages lead back; `null`: not known. */
  readonly application: string | null;
};

export const accountPage = (site: UserSite, name: AccountPageName): string => {
  const { title, lead, withToken, without, afterwards }: AccountPage = ACCOUNT_PAGES[name];
  return layout(site, {
    title,
    forUsers: true,
    script: html`<script type="module" src="${pathIn(site, '/account-page.js')}"></script>\n`,
    main: html`<h1>${title}</h1>
<p class="lead" data-until-done>${lead}</p>
<noscript><p>This page needs JavaScript: the link holds a token that is sent to nobody before you agree.</p></noscript>
<p id="not-loaded" class="late">The script of this page did not load. Open the link in the email again.</p>
<p role="status" tabindex="-1"></p>
${formOf(withToken, html`data-with-token data-afterwards="${afterwards}"`)}
${without === undefined ? NOTHING : formOf(without, html`data-without-token`)}
${site.application === null ? NOTHING : linkBack(site.application)}`,
  });
};

const linkBack = (application: string): Html =>
  html`<p hidden data-when-done><a href="${application}">Continue to ${new URL(application).host}</a></p>`;

/** Hidden until the script knows whether the URL of the page has a token. The service validates the fields. */
const formOf = ({ action, button, done, field, preview = NOTHING }: Form, attributes: Html): Html =>
  html`<form hidden novalidate data-action="${action}" data-done="${done}" ${attributes}>
${preview}
${field === undefined ? NOTHING : fieldOf(field)}
<button>${button}</button>
</form>`;

const fieldOf = ({ name, label, type, autocomplete }: Field): Html =>
  html`<p class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"></p>`;
