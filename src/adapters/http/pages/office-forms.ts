/** What people type, by the member of the request that it becomes. `flag`: a checkbox. */
type Field = { readonly name: string; readonly label: string; readonly type: 'text' | 'email' | 'flag' };

export type OfficeForm = {
  readonly button: string;
  /** What it does, unless the button says so. */
  readonly text?: string;
  readonly fields?: readonly Field[];
  /** A word that has to be typed, so that nobody does it by mistake. */
  readonly confirm?: string;
  /** What the page says then. Default: that it is done. */
  readonly done?: string;
  /** What it says of a link that is shown. */
  readonly handsOver?: string;
};

const REASON: Field = { name: 'reason', label: 'Reason, which the users can read', type: 'text' };
const EMAIL: Field = { name: 'email', label: 'Email address', type: 'email' };
const PROVEN: Field = { name: 'emailVerified', label: 'I know that the address is theirs', type: 'flag' };
const FINAL: Field = {
  name: 'final',
  label: 'Somebody else had taken the account: it goes back to its owner',
  type: 'flag',
};
const HAND_OVER: Field = { name: 'handOver', label: 'Show it here, to hand over: it proves no address', type: 'flag' };
const LINK: Field = { name: 'sendLink', label: 'Send a mail with a link', type: 'flag' };

/** The forms of the pages for operators. `disable-user` submits to the route `operators-disable-user`, which knows every rule. */
export const OFFICE_FORMS = {
  invite: { button: 'Invite', text: 'Sends a link of seven days, which registers with the address.', fields: [EMAIL] },
  'create-user': {
    button: 'Create a user',
    text: 'Without a password: the link sets one.',
    fields: [EMAIL, PROVEN, LINK],
  },
  'end-all-sessions': {
    button: 'End all sessions of all users',
    text: 'After an incident. Everybody has to log in again.',
    fields: [REASON],
    confirm: 'end all sessions',
    done: 'Done. If there are many, the rest ends in the background.',
  },
  'end-sessions': { button: 'End all sessions', fields: [REASON] },
  'disable-user': { button: 'Disable', text: 'Log-ins are refused, and all sessions end.', fields: [REASON] },
  'enable-user': { button: 'Enable' },
  'set-email': {
    button: 'Change the address',
    text: 'Unless you know that it is theirs, the new address gets a link, and the present one counts until that is used.',
    fields: [EMAIL, PROVEN, FINAL],
  },
  'verify-email': {
    button: 'State that the address is theirs',
    text: 'What was added to the account before goes, and its sessions end: anybody can register with any address. The password stays.',
  },
  resend: { button: 'Send the link again that proves the address' },
  'unlock-user': {
    button: 'Unlock',
    text: 'Forgets the wrong passwords and codes, so that log-ins need not wait.',
  },
  'reset-link': {
    button: 'Send a link for a new password',
    text: 'To the address of the account.',
    fields: [HAND_OVER],
    handsOver: 'Hand this link over. It is shown for a minute, and works once:',
  },
  'remove-factors': { button: 'Remove second factors and passkeys', text: 'For a user who has lost a device.' },
  'end-session': { button: 'End' },
  'unlink-identity': { button: 'Remove' },
  'delete-user': {
    button: 'Delete the account',
    text: 'With everything that is stored about the user. Nothing brings it back.',
    confirm: 'delete',
  },
} as const satisfies Readonly<Record<string, OfficeForm>>;

export type OfficeFormName = keyof typeof OFFICE_FORMS;
