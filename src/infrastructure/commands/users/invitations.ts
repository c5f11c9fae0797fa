import { userData } from '../../../application/accounts/account-data.ts';
import { invite, revokeInvitation } from '../../../application/accounts/invitations.ts';
import { createAccount } from '../../../application/accounts/operate-addresses.ts';
import { INVITATIONS_AT_MOST, type Invitation } from '../../../domain/invitation.ts';
import { canonicalLocale } from '../../../domain/locale.ts';
import { accountKind, isAccountName, USERNAME_MIN_LENGTH } from '../../../domain/user.ts';
import { CommandError, invalidArguments } from '../../command-error.ts';
import { printable } from '../../printable.ts';
import { type Action, action } from '../command.ts';
import { attributesIn, CHANGING, emailIn, nameOf, notDone, operatorNamed } from './changes.ts';
import type { Opening } from './open-accounts.ts';
import { invitationsTable } from './tables.ts';

/** The commands for those who have no account yet. @param nameIn reads the name of the operator. */
export const invitationActions = (
  opening: Opening,
  nameIn: (given: string | undefined) => string | undefined,
): Readonly<Record<string, Action>> => ({
  invite: action({
    args: ['EMAIL'],
    options: { ...CHANGING, attributes: 'JSON', locale: 'de' },
    does: 'sends a link of seven days that registers with this address, in place of an earlier one',
    run: ({ args: [given = ''], options, env }) => {
      const [email, operator] = [emailIn(given), operatorNamed(nameIn(options.as))];
      const { attributes, locale } = statedIn(options);
      return opening(env, async (accounts, { registration }) => {
        if (registration.mode === 'closed')
          throw refused('closed', 'REGISTRATION=closed lets nobody register: an invitation would not work.');
        if (!accounts.hasMail) throw refused('no-mail', 'An invitation is sent by mail. Set MAIL_URL.');
        if (options['dry-run']) return notDone({ command: 'invite', email }, `invite ${printable(email)}`);
        const invitation = await invite(accounts)({ email, attributes, locale }, operator);
        if (invitation === 'registered') throw refused('registered', 'This address has an account.');
        if (invitation === 'too-many')
          throw refused('too-many', `There are ${INVITATIONS_AT_MOST} invitations. Revoke some first.`);
        const text = `${printable(email)} is invited. The service sends the mail, unless the address has got too many of late.\n`;
        return { json: { command: 'invite', dryRun: false, changed: true, ...shown(invitation) }, text };
      });
    },
  }),
  create: action({
    args: ['EMAIL'],
    options: { ...CHANGING, username: 'NAME', attributes: 'JSON', locale: 'de', proven: true },
    does: 'stores an account without a password, whose address gets a link to set one',
    run: ({ args: [given = ''], options, env }) => {
      const [email, operator, username = null] = [emailIn(given), operatorNamed(nameIn(options.as)), options.username];
      if (
        username !== null &&
        (username.length < USERNAME_MIN_LENGTH || accountKind(username) === 'email' || !isAccountName(username))
      )
        throw invalidArguments('--username needs 3 to 32 letters, digits, dots, underscores and hyphens.');
      const stated = { ...statedIn(options), isProven: options.proven };
      return opening(env, async (accounts) => {
        if (options['dry-run']) return notDone({ command: 'create', email }, `create ${printable(email)}`);
        const user = await createAccount(accounts)(
          { email, username, ...stated, sendsLink: accounts.hasMail },
          operator,
        );
        const next = accounts.hasMail
          ? 'A link to set a password is sent.'
          : 'Without MAIL_URL no link is sent: make one with reset-link.';
        return {
          json: { command: 'create', dryRun: false, changed: true, user: userData(user) },
          text: `${nameOf(user)} is created. ${next}\n`,
        };
      });
    },
  }),
  invitations: action({
    options: { json: true },
    does: 'the invitations that were neither used nor have expired',
    run: ({ env }) =>
      opening(env, async ({ invitations, clock }) => {
        const open = (await invitations.list(clock.now(), INVITATIONS_AT_MOST)).map(shown);
        return { json: { invitations: open }, text: open.length === 0 ? 'No invitations.\n' : invitationsTable(open) };
      }),
  }),
  'revoke-invitation': action({
    args: ['EMAIL'],
    options: CHANGING,
    does: 'takes an invitation back: its link does not work any more',
    run: ({ args: [given = ''], options, env }) => {
      const [email, operator] = [emailIn(given), operatorNamed(nameIn(options.as))];
      return opening(env, async (accounts) => {
        if (options['dry-run'])
          return notDone({ command: 'revoke-invitation', email }, `revoke-invitation ${printable(email)}`);
        const invitation = await revokeInvitation(accounts)(email, operator);
        if (invitation === null) throw new CommandError('not-found', 'This address has no invitation.');
        const text = `The invitation of ${printable(email)} is revoked.\n`;
        return { json: { command: 'revoke-invitation', dryRun: false, changed: true, ...shown(invitation) }, text };
      });
    },
  }),
});

/** What an operator states about somebody new. */
const statedIn = (options: { readonly attributes: string | undefined; readonly locale: string | undefined }) => {
  const attributes = options.attributes === undefined ? {} : attributesIn(options.attributes);
  const locale = options.locale === undefined ? null : canonicalLocale(options.locale);
  if (options.locale !== undefined && locale === null)
    throw invalidArguments('--locale: expected a language tag, such as de or de-AT');
  return { attributes, locale };
};

const refused = (code: string, message: string): CommandError => new CommandError(code, message, 1);

/** Without the hash of its token. */
const shown = ({ id, email, attributes, createdAt, expiresAt }: Invitation) => ({
  ...{ id, email, attributes, createdAt, expiresAt },
});
