import type { Operation, Parameter } from './docs-document.ts';

/**
 * The calls of the browser client, by operation. `auth` is an AuthClient, `account` an AccountClient (docs/browser.md).
 * Operations that programs do not call have none.
 */
export const CLIENT_CALLS: Readonly<Record<string, string>> = {
  register: 'auth.register({ username, email, password })',
  login: 'auth.login({ account, password })',
  refresh: 'auth.refresh()',
  clearCookie: 'auth.logout()',
  session: 'auth.user',
  sessions: 'auth.sessions.list()',
  endSession: 'auth.sessions.end(id)',
  endSessions: 'auth.sessions.endOthers()',
  changePassword: 'auth.changePassword({ currentPassword, newPassword })',
  currentUser: "auth.fetch('/users/me')",
  deleteAccount: 'account.remove(password)',
  events: 'account.events({ before, limit })',
  exportAccount: 'account.exported()',
  changeUsername: 'account.changeUsername({ username })',
  changeEmail: 'account.changeEmail({ email, password })',
  previewEmailChange: 'account.previewEmailChange(token)',
  confirmEmailChange: 'account.confirmEmailChange({ token, password })',
  undoEmailChange: 'account.undoEmailChange(token)',
  requestPasswordReset: 'account.requestPasswordReset(email)',
  confirmPasswordReset: 'account.resetPassword({ token, newPassword })',
  requestEmailVerification: 'account.requestEmailVerification(email)',
  confirmEmail: 'account.verifyEmail(token)',
  removeUnverifiedAccount: 'account.refuseRegistration(token)',
};

const exampleOf = ({ name, example }: Parameter): string => String(example ?? name.toUpperCase());

/** A curl command that sends the operation with the values of its examples. `$TOKEN` is an access token, `$JAR` a file for cookies. */
export const curlOf = (
  { method, path, parameters, security, body, setsCookie }: Operation,
  baseUrl: string,
): string => {
  const values = new Map(parameters.map((parameter) => [parameter.name, exampleOf(parameter)]));
  const url = `${baseUrl}${path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values.get(name) ?? name)}`;
  const schemes = security.flat();
  const options = [
    ...(schemes.includes('accessToken') ? [`-H "Authorization: Bearer $TOKEN"`] : []),
    ...(schemes.includes('refreshToken') ? [`-b "$JAR"`] : []),
    ...(setsCookie ? [`-c "$JAR"`] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body.example)}'`]),
  ];
  const command = method === 'GET' ? 'curl' : `curl -X ${method}`;
  return [command, ...options, url].join(options.length > 0 ? ' \\\n  ' : ' ');
};
