import * as v from 'valibot';
import { existingUser, userData } from '../../../../application/accounts/account-data.ts';
import { countUsers, listAllEvents, listUsers } from '../../../../application/accounts/list-accounts.ts';
import { createAccount, resendVerification, setEmail } from '../../../../application/accounts/operate-addresses.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { EMAIL_MAX_LENGTH } from '../../../../domain/user.ts';
import { fieldRule } from '../../../json/text-rule.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { Email, Id, IdParams, Locale, Username } from '../../routing/fields.ts';
import { DEFAULT_LIMIT, Limit } from '../accounts/events.ts';
import { shownUser } from '../accounts/export.ts';
import { originOfOperator } from './back-office.ts';
import {
  Attributes,
  type BackOfficeDeps,
  Changed,
  EventOfOperatorsJson,
  READS,
  UserOfOperatorsJson,
  WRITES,
} from './fields.ts';

const UsersQuery = v.strictObject({
  contains: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(EMAIL_MAX_LENGTH), v.examples(['example.org']))),
  newest: v.optional(v.picklist(['true', 'false'])),
  cursor: v.optional(Id),
  limit: v.optional(Limit),
});

const AllEventsQuery = v.strictObject({
  before: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}-[0-9A-Z]{26}$/, 'must be `next` of the page before'),
      v.examples(['1795687427000-01M805M0DQRNB7PKSRES70K5MB']),
    ),
  ),
  limit: v.optional(Limit),
});

const Flag = v.optional(v.boolean(), false);
const NO_MAIL = { code: 'invalid_value', message: 'must be false: the service sends no mail' } as const;
const UNSENT = [
  { field: 'emailVerified', code: 'invalid_value', message: 'must be true: the service sends no mail' },
] as const;

const createOf = ({ mailer }: BackOfficeDeps) =>
  v.object({
    email: Email,
    emailVerified: Flag,
    sendLink: v.optional(
      v.pipe(
        v.boolean(),
        fieldRule((asked: boolean) => (asked && mailer === null ? NO_MAIL : null)),
        v.metadata({ jsonSchema: { type: 'boolean' } }),
      ),
      false,
    ),
    username: v.optional(Username),
    attributes: v.optional(Attributes),
    locale: v.optional(Locale),
  });

/** All users and what happened to them; new users, and addresses. */
export const operatedAccountRoutes = (deps: BackOfficeDeps): Route[] => {
  const shown = async (id: string) => shownUser(userData(await existingUser(deps, id)));
  return [
    route(
      {
        ...{ ...READS, name: 'operators-users', method: 'GET', path: '/users' },
        summary: 'List users, the newest first, or those whose name or address contains a text',
        description:
          'A text of one or two characters finds the names and addresses that begin with it, in their alphabetical order. Letter case does not matter.',
        request: { query: UsersQuery },
        response: { data: v.object({ users: v.array(UserOfOperatorsJson), next: v.nullable(v.string()) }) },
      },
      async ({ query: { contains = null, newest, cursor = null, limit = DEFAULT_LIMIT } }) => {
        const page = { contains, after: cursor, newestFirst: newest !== 'false', limit };
        const { users, next } = await listUsers(deps)(page);
        return { users: users.map((user) => shownUser(userData(user))), next };
      },
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-create-user', method: 'POST', path: '/users' },
        summary: 'Create a user without a password, who may get a link that sets one',
        request: { body: createOf(deps) },
        response: { status: 201, data: UserOfOperatorsJson },
        errors: ['AUTH_USER_DUPLICATE'],
      },
      async ({ body: { emailVerified, sendLink, username = null, attributes = {}, locale = null, email } }, ctx) => {
        const account = { ...{ email, username, attributes, locale }, isProven: emailVerified };
        const user = await createAccount(deps)({ ...account, sendsLink: sendLink }, originOfOperator(ctx));
        return shownUser(userData(user));
      },
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-set-email', method: 'PUT', path: '/users/:id/email' },
        summary: 'Give a user another address, which waits for its link unless the operator knows that it is theirs',
        description:
          'Without `emailVerified`, the address gets a link, and the former one counts until it is used. With `final`, the account goes back to its owner, whose address it is: sessions, password, passkeys and sign-ins end, no former address can take the account back, and the owner gets a link that sets a password.',
        request: { params: IdParams, body: v.object({ email: Email, emailVerified: Flag, final: Flag }) },
        response: { data: UserOfOperatorsJson },
        errors: ['AUTH_USER_DUPLICATE'],
      },
      async ({ params: { id }, body: { email, emailVerified, final } }, ctx) => {
        if (deps.mailer === null && !emailVerified && !final)
          throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: UNSENT });
        await setEmail(deps)(id, { email, isProven: emailVerified, isReturned: final }, originOfOperator(ctx));
        return shown(id);
      },
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-verify-email', method: 'POST', path: '/users/:id/email/verify' },
        summary: 'State that the address of a user is theirs, which ends what was added before',
        request: { params: IdParams },
        response: { data: Changed },
      },
      async ({ params: { id } }, ctx) => ({
        changed: await setEmail(deps)(id, { email: null, isProven: true }, originOfOperator(ctx)),
      }),
    ),
    route(
      {
        ...{ ...READS, name: 'operators-count', method: 'GET', path: '/users/count' },
        summary: 'Count the users',
        response: { data: v.object({ count: v.number() }) },
      },
      async () => ({ count: await countUsers(deps)() }),
    ),
    ...(deps.mailer !== null
      ? [
          route(
            {
              ...{ ...WRITES, name: 'operators-resend', method: 'POST', path: '/users/:id/email/resend' },
              summary: 'Send the link again that proves the address of a user',
              request: { params: IdParams },
              response: { data: v.object({ sent: v.boolean() }) },
            },
            async ({ params }, ctx) => ({ sent: await resendVerification(deps)(params.id, originOfOperator(ctx)) }),
          ),
        ]
      : []),
    route(
      {
        ...{ ...READS, name: 'operators-events', method: 'GET', path: '/events' },
        summary: 'List what happened to all users, the latest first, and which operator did it',
        request: { query: AllEventsQuery },
        response: {
          data: v.object({
            events: v.array(v.object({ userId: v.string(), ...EventOfOperatorsJson.entries })),
            next: v.nullable(v.string()),
          }),
        },
      },
      ({ query: { before = null, limit = DEFAULT_LIMIT } }) => listAllEvents(deps)({ before, limit }),
    ),
  ];
};
