import * as v from 'valibot';
import { invite, revokeInvitation } from '../../../../application/accounts/invitations.ts';
import { AppError, duplicateUser } from '../../../../domain/errors/app-error.ts';
import { INVITATIONS_AT_MOST } from '../../../../domain/invitation.ts';
import { assertMayRegister } from '../../../../domain/registration.ts';
import { AttributesJson, Timestamp } from '../../../json/public-user.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { AddressBody, Email, Locale } from '../../routing/fields.ts';
import { originOfOperator } from './back-office.ts';
import { Attributes, type BackOfficeDeps, READS, WRITES } from './fields.ts';

const InvitationJson = v.pipe(
  v.object({
    id: v.string(),
    email: v.string(),
    attributes: AttributesJson,
    createdAt: Timestamp,
    expiresAt: Timestamp,
  }),
  v.title('Invitation'),
  v.examples([
    {
      ...{ id: '01M805M084GXA5E2JTR4FKH6WN', email: 'grace@example.org', attributes: {} },
      ...{ createdAt: '2026-11-21T23:03:48.228Z', expiresAt: '2026-11-28T23:03:48.228Z' },
    },
  ]),
);

const InviteBody = v.object({
  email: Email,
  attributes: v.optional(Attributes),
  locale: v.optional(Locale),
});

/** Those who have no account yet. With mail alone, by which invitations are sent. */
export const invitationRoutes = (deps: BackOfficeDeps): Route[] => [
  route(
    {
      ...{ ...READS, name: 'operators-invitations', method: 'GET', path: '/invitations' },
      summary: 'List the invitations that were neither used nor have expired',
      response: { data: v.object({ invitations: v.array(InvitationJson) }) },
    },
    async () => ({ invitations: await deps.invitations.list(deps.clock.now(), INVITATIONS_AT_MOST) }),
  ),
  route(
    {
      ...{ ...WRITES, name: 'operators-invite', method: 'POST', path: '/invitations' },
      summary: 'Send a link of seven days that registers with an address, in place of an earlier one',
      request: { body: InviteBody },
      response: { status: 201, data: InvitationJson },
      errors: ['AUTH_USER_DUPLICATE', 'AUTH_REGISTRATION_CLOSED', 'AUTH_REGISTRATION_REFUSED'],
    },
    async ({ body: { email, attributes = {}, locale = null } }, ctx) => {
      assertMayRegister(deps.registration, email, true);
      const invitation = await invite(deps)({ email, attributes, locale }, originOfOperator(ctx));
      if (invitation === 'registered') throw duplicateUser('email');
      if (invitation !== 'too-many') return invitation;
      const message = `There are ${INVITATIONS_AT_MOST} invitations. Revoke some first.`;
      throw new AppError('AUTH_REGISTRATION_REFUSED', { message });
    },
  ),
  route(
    {
      ...{ ...WRITES, name: 'operators-revoke-invitation', method: 'DELETE', path: '/invitations' },
      summary: 'Take the invitation of an address back',
      request: { body: AddressBody },
      response: { data: v.null() },
    },
    async ({ body }, ctx) => {
      if ((await revokeInvitation(deps)(body.email, originOfOperator(ctx))) !== null) return null;
      throw new AppError('DB_RECORD_NOT_FOUND', { message: 'This address has no invitation.' });
    },
  ),
];
