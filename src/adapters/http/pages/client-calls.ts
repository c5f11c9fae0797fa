/**
 * The call of the browser client for a route, by its name. `auth` is an AuthClient, `account` an AccountClient (docs/browser.md). Routes
 * that front ends do not call have none.
 */
export const CLIENT_CALLS: Readonly<Record<string, string>> = {
  register: 'auth.register({ username, email, password })',
  login: 'auth.login({ account, password })',
  refresh: 'auth.refresh()',
  'clear-cookie': 'auth.logout()',
  session: 'auth.user',
  sessions: 'auth.sessions.list()',
  'end-session': 'auth.sessions.end(id)',
  'end-sessions': 'auth.sessions.endOthers()',
  'change-password': 'auth.changePassword({ currentPassword, newPassword })',
  'current-user': "auth.fetch('/users/me')",
  'delete-account': 'account.remove(password)',
  events: 'account.events({ before, limit })',
  'export-account': 'account.exported()',
  'change-username': 'account.changeUsername({ username })',
  'change-email': 'account.changeEmail({ email, password })',
  'preview-email-change': 'account.previewEmailChange(token)',
  'confirm-email-change': 'account.confirmEmailChange({ token, password })',
  'undo-email-change': 'account.undoEmailChange(token)',
  'request-password-reset': 'account.requestPasswordReset(email)',
  'confirm-password-reset': 'account.resetPassword({ token, newPassword })',
  'request-email-verification': 'account.requestEmailVerification(email)',
  'confirm-email': 'account.verifyEmail(token)',
  'remove-unverified-account': 'account.refuseRegistration(token)',
};
