import * as v from 'valibot';
import { existingUser, userData } from '../../../../application/accounts/account-data.ts';
import { invite, revokeInvitation } from '../../../../application/accounts/applicant.ts';
import * as operate from '../../../../application/accounts/operate-accounts.ts';
import { endEverySession } from '../../../../application/sessions/purge.ts';
import { listWebhooks, replayWebhook } from '../../../../application/storage/webhooks.ts';
import { AppError, duplicateUser } from '../../../../domain/errors/app-error.ts';
import { assertMayRegister, MAX_INVITATIONS } from '../../../../domain/registration.ts';
import { InvitationJson } from '../../../json/back-office.ts';
import { AddressBody, Email, Id, Locale, Timestamp, Username } from '../../../json/fields.ts';
import { USERNAME } from '../../pages/office/view.ts';
import { type Act, act, invalidMember } from './act.ts';
import * as json from './fields.ts';

const OptionalFlag = v.optional(v.boolean(), false);

export const ACTS = {
  invite: act({
    at: 'POST /invitations',
    summary: 'Send a link of seven days that registers with an address, in place of an earlier one',
    body: v.object({ email: Email, attributes: v.optional(json.AttributesField), locale: v.optional(Locale) }),
    data: InvitationJson,
    status: 201,
    errors: ['AUTH_USER_DUPLICATE', 'AUTH_REGISTRATION_CLOSED', 'AUTH_REGISTRATION_REFUSED'],
    requires: 'mail',
    check: ({ registration }, { body }) => assertMayRegister(registration, body.email, true),
    async execute(deps, { body: { email, attributes = {}, locale = null } }, origin) {
      const invitation = await invite(deps)({ email, attributes, locale }, origin);
      if (invitation === 'registered') throw duplicateUser('email');
      if (invitation !== 'too-many') return invitation;
      const message = `There are ${MAX_INVITATIONS} invitations. Revoke some first.`;
      throw new AppError('AUTH_REGISTRATION_REFUSED', { message });
    },
    form: {
      button: 'Invite',
      text: 'Sends a link of seven days, which registers with the address.',
      page: '/office/invitations',
    },
    command: { name: 'invite', note: 'The service sends the mail, unless the address has got too many of late.' },
  }),
  'revoke-invitation': act({
    at: 'DELETE /invitations',
    summary: 'Take the invitation of an address back',
    body: AddressBody,
    requires: 'mail',
    async execute(deps, { body }, origin) {
      if ((await revokeInvitation(deps)(body.email, origin)) === null)
        throw new AppError('DB_RECORD_NOT_FOUND', { message: 'This address has no invitation.' });
    },
    form: { button: 'Take back', text: 'The link no longer works.', page: '/office/invitations' },
    command: { name: 'revoke-invitation' },
  }),
  'create-user': act({
    at: 'POST /users',
    summary: 'Create a user without a password, who may get a link that sets one',
    body: v.object({
      email: Email,
      emailVerified: OptionalFlag,
      sendLink: OptionalFlag,
      username: v.optional(Username),
      attributes: v.optional(json.AttributesField),
      locale: v.optional(Locale),
    }),
    data: json.UserForOperatorsJson,
    status: 201,
    errors: ['AUTH_USER_DUPLICATE'],
    mail: { isSent: ({ sendLink }) => sendLink, preventedBy: ['sendLink', false] },
    async execute(deps, { body: { emailVerified, sendLink, ...account } }, origin) {
      const { username = null, attributes = {}, locale = null, email } = account;
      const newAccount = { ...{ email, username, attributes, locale }, isProven: emailVerified, sendsLink: sendLink };
      return userData(await operate.createAccount(deps)(newAccount, origin));
    },
    form: {
      button: 'Create a user',
      text: 'Without a password: the link sets one.',
      page: '/office/users',
      leadsTo: 'user',
    },
    command: { name: 'create', reportMember: 'user' },
  }),
  'end-all-sessions': act({
    at: 'DELETE /sessions',
    summary: 'End the sessions of all users, which are removed in the background',
    body: json.RequiredReasonBody,
    status: 202,
    execute: (deps, { body }, origin) => endEverySession(deps)(origin, body.reason),
    form: {
      button: 'End all sessions of all users',
      text: 'After an incident. Everybody has to log in again.',
      confirm: 'end all sessions',
      page: '/office/users',
      doneText: 'Done. If there are many, the rest ends in the background.',
    },
    command: { name: 'end-all-sessions', isFinal: true },
  }),
  'end-sessions': act({
    at: 'DELETE /users/:id/sessions',
    summary: 'End all sessions of a user',
    mayConcernOperators: true,
    body: json.ReasonBody,
    data: json.EndedSessionsJson,
    async execute(deps, { id, body }, origin) {
      await existingUser(deps, id);
      return { endedSessions: await operate.endSessionsAsOperator(deps)(id, origin, body?.reason) };
    },
    form: { button: 'End all sessions', text: 'Every device has to log in again. None is remembered any more.' },
    command: { name: 'end-sessions', isFinal: true },
  }),
  'end-session': act({
    at: 'DELETE /users/:id/sessions/:sessionId',
    summary: 'End one session of a user, or forget a remembered device',
    mayConcernOperators: true,
    params: v.object({ id: Id, sessionId: Id }),
    body: json.ReasonBody,
    execute: (deps, { id, sessionId, body }, origin) =>
      operate.endSessionAsOperator(deps)(id, sessionId, origin, body?.reason),
    form: { button: 'End', text: 'The device has to log in again.' },
  }),
  'disable-user': act({
    at: 'POST /users/:id/disable',
    summary: 'Refuse log-ins of a user, and end all sessions',
    mayConcernOperators: true,
    body: json.ReasonBody,
    data: v.object({ ...json.ChangedJson.entries, ...json.EndedSessionsJson.entries }),
    execute: (deps, { id, body }, origin) => operate.disableAccount(deps)(id, origin, body?.reason),
    form: { button: 'Disable', text: 'Log-ins are refused, and all sessions end.' },
    command: { name: 'disable', isFinal: true },
  }),
  'enable-user': act({
    at: 'POST /users/:id/enable',
    summary: 'Allow log-ins of a user again',
    data: json.ChangedJson,
    execute: async (deps, { id }, origin) => ({ changed: await operate.enableAccount(deps)(id, origin) }),
    form: { button: 'Enable', text: 'The user can log in again, by all ways that are left.' },
    command: { name: 'enable' },
  }),
  'set-email': act({
    at: 'PUT /users/:id/email',
    summary: 'Give a user another address, which waits for its link unless the operator knows that it is theirs',
    description:
      'Without `emailVerified`, the address gets a link, and the former one counts until it is used. With `final`, the account goes back to its owner, whose address it is: sessions, password, passkeys and sign-ins end, no former address can take the account back, and the owner gets a link that sets a password.',
    body: v.object({ email: Email, emailVerified: OptionalFlag, final: OptionalFlag }),
    data: json.UserForOperatorsJson,
    errors: ['AUTH_USER_DUPLICATE'],
    mail: { isSent: ({ emailVerified, final }) => !emailVerified && !final, preventedBy: ['emailVerified', true] },
    async execute(deps, { id, body: { email, emailVerified, final } }, origin) {
      await operate.setEmail(deps)(id, { email, isProven: emailVerified, isReturned: final }, origin);
      return userData(await existingUser(deps, id));
    },
    form: {
      button: 'Change the address',
      text: 'Unless you know that it is theirs, the new address gets a link, and the present one counts until that is used.',
    },
    command: { name: 'set-email', reportMember: 'user' },
  }),
  'verify-email': act({
    at: 'POST /users/:id/email/verify',
    summary: 'State that the address of a user is theirs, which ends what was added before',
    data: json.ChangedJson,
    execute: async (deps, { id }, origin) => ({
      changed: await operate.setEmail(deps)(id, { email: null, isProven: true }, origin),
    }),
    form: {
      button: 'State that the address is theirs',
      text: 'What was added to the account before goes, and its sessions end: anybody can register with any address. The password stays.',
    },
    command: { name: 'prove-email' },
  }),
  resend: act({
    at: 'POST /users/:id/email/resend',
    summary: 'Send the link again that proves the address of a user',
    data: v.object({ sent: v.boolean() }),
    requires: 'mail',
    execute: async (deps, { id }, origin) => ({ sent: await operate.resendVerification(deps)(id, origin) }),
    form: { button: 'Send the link again that proves the address', text: 'By mail, to the address of the account.' },
    command: { name: 'resend-verification' },
  }),
  'unlock-user': act({
    at: 'POST /users/:id/unlock',
    summary: 'Forget the wrong passwords and codes of a user, so that log-ins need not wait',
    mayConcernOperators: true,
    requires: 'attempts',
    async execute({ attempts, ...deps }, { id }, origin) {
      if (attempts !== null) await operate.unlockAccount({ ...deps, attempts })(id, origin);
    },
    form: { button: 'Unlock', text: 'Forgets the wrong passwords and codes, so that log-ins need not wait.' },
    command: { name: 'unlock' },
  }),
  'set-attributes': act({
    at: 'PUT /users/:id/attributes',
    summary: 'State attributes for the access tokens of a user, in place of the former ones',
    body: v.object({ attributes: json.AttributesField }),
    data: json.ChangedJson,
    execute: async (deps, { id, body }, origin) => ({
      changed: await operate.setAttributes(deps)(id, body.attributes, origin),
    }),
    form: {
      button: 'Change the attributes',
      text: 'In place of the present ones. Access tokens have them from the next refresh on; {} removes them.',
    },
    command: { name: 'set-attributes', note: 'Access tokens have them from the next refresh on.' },
  }),
  'reset-link': act({
    at: 'POST /users/:id/reset-link',
    summary: 'Mail a link that sets a new password to the address of the user, or make one to hand over',
    description:
      'With `handOver`, it is returned. Then it proves no address, and needs RESET_LINK_HAND_OVER=on. Without mail and ACCOUNT_PAGES=on, its page needs ACCOUNT_PAGES_URL.',
    body: v.optional(v.pipe(v.object({ handOver: v.optional(v.boolean()) }), v.examples([{ handOver: true }]))),
    data: v.object({ url: v.nullable(v.string()), expiresAt: v.nullable(Timestamp) }),
    errors: ['AUTH_ACCOUNT_DISABLED'],
    mail: { isSent: (body) => !body?.handOver, preventedBy: ['handOver', true] },
    async check(deps, { id, body }) {
      if (body?.handOver && deps.resetLinkHandOver !== 'on')
        throw invalidMember('handOver', 'needs RESET_LINK_HAND_OVER=on');
      const message = 'The account is disabled: a link would not work. Enable it first.';
      if ((await existingUser(deps, id)).disabledAt !== null) throw new AppError('AUTH_ACCOUNT_DISABLED', { message });
    },
    async execute(deps, { id, body }, origin) {
      const user = await existingUser(deps, id);
      if (!body?.handOver) {
        await operate.mailResetLink(deps)(user, origin);
        return { url: null, expiresAt: null };
      }
      const { token, expiresAt } = await operate.makeResetLink(deps)(user, origin);
      return { url: `${deps.accountPagesUrl}/password-reset#token=${token}`, expiresAt };
    },
    form: { button: 'Make a link for a new password', text: 'By mail to the address of the account.' },
    command: { name: 'reset-link' },
  }),
  'remove-factors': act({
    at: 'DELETE /users/:id/factors',
    summary: 'Remove the authenticator apps, recovery codes and passkeys of a user who has lost a device',
    data: v.object({ apps: v.number(), recoveryCodes: v.number(), passkeys: v.number() }),
    execute: (deps, { id }, origin) => operate.removeFactorsAsOperator(deps)(id, origin),
    form: {
      button: 'Remove second factors and passkeys',
      text: 'For a user who has lost a device. Remembered devices are forgotten; sessions stay until you end them.',
    },
    command: { name: 'remove-factors', reportMember: 'removed', isFinal: true },
  }),
  'unlink-identity': act({
    at: 'DELETE /users/:id/identities/:identityId',
    summary: 'Remove an identity of a user at a provider, also the last way in',
    params: v.object({ id: Id, identityId: Id }),
    execute: (deps, { id, identityId }, origin) => operate.unlinkIdentityAsOperator(deps)(id, identityId, origin),
    form: { button: 'Remove', text: 'The user has to link it again to use it.' },
    command: { name: 'unlink' },
  }),
  'replay-webhook': act({
    at: 'POST /webhooks/:id/replay',
    summary: 'Send a webhook again what was not delivered, and enable it',
    data: v.object({ users: v.number() }),
    async execute(deps, { id }) {
      const webhooks = await listWebhooks(deps.records);
      if (!webhooks.some((webhook) => webhook.id === id)) throw new AppError('DB_RECORD_NOT_FOUND');
      return { users: await replayWebhook(deps)(id) };
    },
    form: {
      button: 'Send again',
      text: 'What waits, and what was given up within a week, is sent again at once; a disabled webhook is enabled. With thousands of users, this page may end before it is done: it goes on all the same.',
      page: '/office/webhooks',
    },
  }),
  'delete-user': act({
    at: 'DELETE /users/:id',
    summary: 'Delete a user and everything that is stored about them',
    async execute(deps, { id }, origin) {
      if (!(await operate.deleteAccountAsOperator(deps)(id, origin))) throw new AppError('DB_RECORD_NOT_FOUND');
    },
    form: {
      button: 'Delete the account',
      text: 'With everything that is stored about the user. Nothing brings it back.',
      confirm: USERNAME,
      leadsTo: 'list',
    },
    command: { name: 'delete', isFinal: true },
  }),
} as const satisfies Readonly<Record<string, Act>>;
