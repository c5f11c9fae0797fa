import { userInfo } from 'node:os';
import * as v from 'valibot';
import { validationFailure } from '../../../adapters/http/errors/exceptions.ts';
import { memberNames } from '../../../adapters/http/forms/form-validation.ts';
import { type Act, assertPossible, performAct, problemsOf } from '../../../adapters/http/routes/back-office/act.ts';
import { ACTS } from '../../../adapters/http/routes/back-office/acts.ts';
import { parseObject } from '../../../adapters/http/stages/input-validation.ts';
import { fieldProblems } from '../../../adapters/json/field-problems.ts';
import { accountData } from '../../../application/accounts/account-data.ts';
import { identitiesOf } from '../../../application/storage/credentials.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../../domain/event.ts';
import { isProgramName } from '../../../domain/operator.ts';
import { isConfirmed } from '../../../domain/second-factor.ts';
import type { User } from '../../../domain/user.ts';
import { CommandError, invalidArguments } from '../../command-error.ts';
import { printable } from '../../texts.ts';
import { type Action, type Answer, action, countText } from '../command.ts';
import { assertConfirmed, type Terminal } from '../terminal.ts';
import { type Accounts, accountIn, findUser, nameOf, type WithAccounts } from './open-accounts.ts';

/** The members of a request that are arguments, unless they are optional, and their names in the help. */
const ARGUMENT_NAMES: Readonly<Record<string, string>> = { email: 'EMAIL', attributes: 'JSON', identityId: 'IDENTITY' };

/** The options for the other members of a request, and for optional ones of `ARGUMENT_NAMES`, as `Action` declares options. */
const OPTIONS: Readonly<Record<string, readonly [name: string, value: true | string]>> = {
  reason: ['reason', 'TEXT'],
  emailVerified: ['proven', true],
  final: ['final', true],
  handOver: ['hand-over', true],
  username: ['username', 'NAME'],
  attributes: ['attributes', 'JSON'],
  locale: ['locale', 'de'],
};

/** The codes of command errors for some codes of the catalog of errors. */
const CODES: Readonly<Record<string, string>> = {
  AUTH_USER_DUPLICATE: 'registered',
  AUTH_REGISTRATION_CLOSED: 'closed',
  AUTH_REGISTRATION_REFUSED: 'too-many',
  AUTH_ACCOUNT_DISABLED: 'disabled',
};

/** The options of every act. Scripts may pass --yes to any act, also to one that does not ask. */
const ACT_OPTIONS = { json: true, 'dry-run': true, yes: true, as: 'NAME' } as const;

type Members = Readonly<Record<string, unknown>>;

export const commandActions = (runWithAccounts: WithAccounts): Readonly<Record<string, Action>> =>
  Object.fromEntries(
    Object.values<Act>(ACTS).flatMap((act) =>
      act.command === undefined ? [] : [[act.command.name, actionOf(runWithAccounts, act)]],
    ),
  );

export const actionOf = (runWithAccounts: WithAccounts, act: Act): Action => {
  const isOfUser = act.at.includes('/:id');
  const members = memberNames(act.body);
  const args = [...memberNames(act.params), ...members].filter((name) => isArg(act, name));
  const options = members.flatMap((name) => (args.includes(name) || !(name in OPTIONS) ? [] : [OPTIONS[name] ?? []]));
  return action({
    args: [...(isOfUser ? ['USER'] : []), ...args.map((name) => ARGUMENT_NAMES[name] ?? name)],
    options: { ...ACT_OPTIONS, ...Object.fromEntries(options) },
    does: helpOf(act),
    run: async ({ args: texts, options, env, terminal }) => {
      const account = isOfUser ? accountIn(texts[0] ?? '') : null;
      const argumentValues = Object.fromEntries(args.map((name, at) => [name, texts[isOfUser ? at + 1 : at]]));
      const body = bodyIn(act, argumentValues, options);
      const origin = operatorIn(options.as as string | undefined);
      return runWithAccounts(env, async (accounts) => {
        const user = account === null ? null : await findUser(accounts, account);
        return perform({ act, accounts, user, argumentValues, body, origin }, options, terminal);
      });
    },
  });
};

const helpOf = ({ summary, description = '' }: Act): string =>
  [summary, description.replace(/`(\w+)`/g, (_, name) => `--${OPTIONS[name]?.[0]}`)].filter(Boolean).join('\n    ');

const isArg = ({ body }: Act, name: string): boolean => {
  const { entries } = (body ?? {}) as { readonly entries?: Readonly<Record<string, v.GenericSchema>> };
  return name in ARGUMENT_NAMES && entries?.[name]?.type !== 'optional';
};

/** The body of the request that the arguments and options stand for. @throws CommandError with the problems that the schema of the route finds */
const bodyIn = (act: Act, argumentValues: Members, options: Members): Members | undefined => {
  if (act.body === undefined) return undefined;
  const members = memberNames(act.body).map((name) => {
    const value = argumentValues[name] ?? options[OPTIONS[name]?.[0] ?? ''];
    return [name, name === 'attributes' && typeof value === 'string' ? objectIn(value) : value] as const;
  });
  const result = v.safeParse(act.body, Object.fromEntries(members.filter(([, value]) => value !== undefined)));
  if (result.success) return result.output as Members;
  return throwCommandError(validationFailure(fieldProblems(result.issues, 'body')));
};

const objectIn = (text: string): object => {
  const object = parseObject(text);
  if (object === null) throw invalidArguments('JSON has to be an object, such as {"roles":["admin"]}.');
  return object;
};

type Operation = {
  readonly act: Act;
  readonly accounts: Accounts;
  readonly user: User | null;
  readonly argumentValues: Readonly<Record<string, string | undefined>>;
  readonly body: Members | undefined;
  readonly origin: Origin;
};

/** Runs an act. If it cannot be undone, the operator is asked first, unless --yes is given. With --dry-run, nothing is changed. */
const perform = async (operation: Operation, options: Members, { ask }: Terminal): Promise<Answer> => {
  const { act, accounts, user, origin } = operation;
  const { params, body } = await inputOf(operation);
  const about = {
    ...{ command: act.command?.name, ...(user !== null && { userId: user.id }), dryRun: options['dry-run'] },
    ...Object.fromEntries(Object.keys(operation.argumentValues).map((name) => [name, { ...body, ...params }[name]])),
  };
  const intent = intentOf(operation);
  const input = { ...params, body, query: undefined };
  await assertPossible(act, accounts, input).catch(throwCommandError);
  if (options['dry-run']) {
    const text = `Not done, because of --dry-run: ${intent}${await lossOf(accounts, user)}.\n`;
    return { json: { ...about, changed: false }, text };
  }
  if (act.command?.isFinal && !options.yes) await assertConfirmed(`${intent}${await lossOf(accounts, user)}?`, ask);
  const answer = await performAct(act, accounts, input, origin).catch(throwCommandError);
  const data = v.parse(act.data, answer) as Members | null;
  const changed = hasChanged(data, user);
  const member = act.command?.reportMember;
  const isMailed = act.mail?.isSent(body) ?? false;
  return {
    json: { ...about, changed, ...(member === undefined ? data : { [member]: data }) },
    text: `${changed || isMailed ? 'Done' : 'Nothing had to be changed'}: ${intent}.\n${textOf(operation, changed, isMailed, data)}`,
  };
};

/** The input of the act: its body, in which `sendLink` says whether there is mail, and the ids that the arguments name. @throws CommandError */
const inputOf = async ({ act, accounts, user, argumentValues, body: parsedBody }: Operation) => {
  const body = parsedBody && 'sendLink' in parsedBody ? { ...parsedBody, sendLink: accounts.hasMail } : parsedBody;
  assertAvailable(accounts, act, body);
  const params =
    user === null ? {} : { id: user.id, ...(await identityParams(accounts, user, argumentValues.identityId)) };
  return { params, body };
};

const intentOf = ({ act, user, argumentValues, body }: Operation): string => {
  const subjects = [
    ...(user === null ? [] : [nameOf(user)]),
    ...Object.values(argumentValues).map((text = '') => printable(text)),
    ...Object.entries(OPTIONS).flatMap(([member, [option]]) => (body?.[member] === true ? [`--${option}`] : [])),
  ];
  return subjects.length === 0 ? act.summary : `${act.summary}: ${subjects.join(', ')}`;
};

const textOf = ({ act }: Operation, changed: boolean, isMailed: boolean, data: Members | null): string => {
  const note = act.command?.note;
  const members = Object.entries(data ?? {}).filter(([name, value]) => name !== 'changed' && value !== null);
  return [
    ...members.map(
      ([name, value]) => `${name}: ${printable(typeof value === 'string' ? value : JSON.stringify(value))}\n`,
    ),
    ...(isMailed ? ['A link is sent by mail.\n'] : []),
    ...(note !== undefined && changed ? [`${note}\n`] : []),
  ].join('');
};

const assertAvailable = (accounts: Accounts, { requires, mail }: Act, body: Members | undefined): void => {
  const otherwise = OPTIONS[mail?.preventedBy[0] ?? '']?.[0];
  if (!accounts.hasMail && (requires === 'mail' || mail?.isSent(body))) {
    const advice = otherwise === undefined ? '' : `, or give --${otherwise}`;
    throw new CommandError('no-mail', `It sends a link by mail. Set MAIL_URL${advice}.`, 1);
  }
  if (requires === 'attempts' && accounts.attempts === null)
    throw new CommandError('in-process', COUNTED_BY_INSTANCES, 1);
};

const COUNTED_BY_INSTANCES =
  'Without REDIS_URL, each instance counts wrong passwords by itself, for an hour: ask its back office (ADMIN_PORT), or restart it.';

/** The parameter of the route for the argument IDENTITY. @param text the id of the identity, or the name of its provider */
const identityParams = async ({ records }: Accounts, { id: userId }: User, text: string | undefined) => {
  if (text === undefined) return {};
  const identities = await identitiesOf(records, userId);
  const [identity, ...others] = identities.filter(({ id, provider }) => id === text || provider === text);
  if (identity === undefined || others.length > 0)
    throw new CommandError('not-found', 'IDENTITY names none, or several: `show --json` has their ids.');
  return { identityId: identity.id };
};

const lossOf = async (accounts: Accounts, user: User | null): Promise<string> => {
  if (user === null) return '';
  const { sessions, factors, recoveryCodes, passkeys } = await accountData(accounts, user, accounts.clock.now());
  return ` (${[
    countText(sessions.length, 'session'),
    countText(factors.filter(isConfirmed).length, 'authenticator app'),
    countText(recoveryCodes.left, 'recovery code'),
    countText(passkeys.length, 'passkey'),
    `attributes ${printable(JSON.stringify(user.attributes))}`,
  ].join(', ')})`;
};

const throwCommandError = (error: unknown): never => {
  if (!(error instanceof AppError)) throw error;
  if (error.code === 'DB_RECORD_NOT_FOUND') throw new CommandError('not-found', error.message);
  if (error.details !== null) throw invalidArguments(`${problemsOf(error).join('; ').replace(/\.$/, '')}.`);
  const code = CODES[error.code];
  throw code === undefined ? error : new CommandError(code, error.message, 1);
};

/** Whether the act has changed anything, by the members `changed`, `sent`, `updatedAt` or the counts of its answer. Without these members, it has. */
const hasChanged = (data: Members | null, user: User | null): boolean => {
  const { changed, sent, updatedAt } = data ?? {};
  const hasEffect = changed ?? sent;
  if (typeof hasEffect === 'boolean') return hasEffect;
  if (user !== null && typeof updatedAt === 'string') return Date.parse(updatedAt) !== user.updatedAt;
  const counts = Object.values(data ?? {}).filter((each) => typeof each === 'number');
  return counts.length === 0 || counts.some((count) => count > 0);
};

/** The origin of the events of an act. @param operator default: the operating system's user. @throws CommandError */
const operatorIn = (operator: string | undefined): Origin => {
  const name = operator?.trim();
  if (name !== undefined && !isProgramName(name))
    throw invalidArguments('--as needs a name of at most 64 visible characters that does not end with (page).');
  return { ...NO_ORIGIN, actor: name ?? systemUser() };
};

/** The name of the operating system's user, or the number of a user without a name, as in some containers. */
const systemUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
};
