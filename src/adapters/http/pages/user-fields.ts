/** What people type into the fields of the pages, by the member of the request that it becomes. The values of `autocomplete`: HTML standard. */
export const FIELDS: Readonly<Record<string, { readonly type: string; readonly attributes?: string }>> = {
  account: { type: 'text', attributes: 'autocomplete="username webauthn" autocapitalize="none" spellcheck="false"' },
  username: { type: 'text', attributes: 'autocomplete="username" autocapitalize="none" spellcheck="false"' },
  email: { type: 'email', attributes: 'autocomplete="email"' },
  password: { type: 'password', attributes: 'autocomplete="current-password"' },
  'new-password': { type: 'password', attributes: 'autocomplete="new-password"' },
  currentPassword: { type: 'password', attributes: 'autocomplete="current-password"' },
  newPassword: { type: 'password', attributes: 'autocomplete="new-password"' },
  // Not a number: leading zeros count. Not of six characters: apps show blanks.
  code: { type: 'text', attributes: 'autocomplete="one-time-code" inputmode="numeric"' },
  recoveryCode: { type: 'text', attributes: 'autocomplete="off" autocapitalize="characters" spellcheck="false"' },
  token: { type: 'text', attributes: 'autocomplete="off" autocapitalize="none" spellcheck="false" data-token' },
  locale: { type: 'text', attributes: 'autocomplete="language" autocapitalize="none"' },
  name: { type: 'text', attributes: 'autocomplete="off"' },
  remember: { type: 'checkbox' },
};
