/** What people type, by the member of the request that it becomes. `flag`: a checkbox. */
type Field = { readonly name: string; readonly label: string; readonly type: 'text' | 'email' | 'flag' };

/** A form of the pages for operators. It submits to a route of the back office, which knows every rule. */
export type OfficeForm = {
  /** The name of that route. */
  readonly submits: string;
  readonly button: string;
  /** What it does, unless the button says so. */
  readonly text?: string;
  readonly fields?: readonly Field[];
  /** A word that has to be typed, so that nobody does it by mistake. */
  readonly confirm?: string;
  /** What the page says then. */
  readonly done: string;
  /** Where that leads: to the list, from a user who is gone. */
  readonly leadsTo?: 'list';
};

const REASON: Field = { name: 'reason', label: 'Reason, which the users can read', type: 'text' };
const EMAIL: Field = { name: 'email', label: 'Email address', type: 'email' };
const PROVEN: Field = { name: 'emailVerified', label: 'I know that the address is theirs', type: 'flag' };
const LINK: Field = { name: 'sendLink', label: 'Send a mail with a link', type: 'flag' };

/** Those of one user are below the address of the user. */
export const OFFICE_FORMS = {
  invite: {
    submits: 'operators-invite',
    button: 'Invite',
    text: 'Sends a link of seven days, which registers with the address.',
    fields: [EMAIL],
    done: 'The invitation is on its way.',
  },
  create: {
    submits: 'operators-create-user',
    button: 'Create a user',
    text: 'Without a password: the link sets one.',
    fields: [EMAIL, PROVEN, LINK],
    done: 'The user is created.',
  },
  'end-all': {
    submits: 'operators-end-all-sessions',
    button: 'End all sessions of all users',
    text: 'After an incident. Everybody has to log in again.',
    fields: [REASON],
    confirm: 'end all sessions',
    done: 'The sessions are ended. If there are many, the rest ends in the background.',
  },
  sessions: {
    submits: 'operators-end-sessions',
    button: 'End all sessions',
    fields: [REASON],
    done: 'The sessions are ended.',
  },
  disable: {
    submits: 'operators-disable-user',
    button: 'Disable',
    text: 'Log-ins are refused, and all sessions end.',
    fields: [REASON],
    done: 'The account is disabled.',
  },
  enable: { submits: 'operators-enable-user', button: 'Enable', done: 'The account is enabled.' },
  email: {
    submits: 'operators-set-email',
    button: 'Change the address',
    fields: [EMAIL, PROVEN, LINK],
    done: 'The address is changed.',
  },
  verify: {
    submits: 'operators-verify-email',
    button: 'State that the address is theirs',
    text: 'What was added to the account before goes, and its sessions end: anybody can register with any address.',
    done: 'The address is proven.',
  },
  resend: {
    submits: 'operators-resend',
    button: 'Send the link again that proves the address',
    done: 'It is on its way.',
  },
  unlock: {
    submits: 'operators-unlock-user',
    button: 'Unlock',
    text: 'Forgets the wrong passwords and codes, so that log-ins need not wait.',
    done: 'Log-ins need not wait.',
  },
  'reset-link': {
    submits: 'operators-reset-link',
    button: 'Make a link for a new password',
    text: 'To hand over to the user.',
    done: 'Hand this link over. It is shown for a minute, and works once:',
  },
  factors: {
    submits: 'operators-remove-factors',
    button: 'Remove second factors and passkeys',
    text: 'For a user who has lost a device.',
    done: 'They are removed.',
  },
  session: { submits: 'operators-end-session', button: 'End', done: 'The session is ended.' },
  identity: { submits: 'operators-unlink-identity', button: 'Remove', done: 'The identity is removed.' },
  delete: {
    submits: 'operators-delete-user',
    button: 'Delete the account',
    text: 'With everything that is stored about the user. Nothing brings it back.',
    confirm: 'delete',
    done: 'The account is deleted.',
    leadsTo: 'list',
  },
} as const satisfies Readonly<Record<string, OfficeForm>>;

export type OfficeFormName = keyof typeof OFFICE_FORMS;
