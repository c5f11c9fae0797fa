import { globSync, readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { aWebhook } from '../support/builders.ts';
import { ROOT } from '../support/checkout/repository.ts';
import { serviceStarter } from '../support/http/account.ts';
import { changesBetween, type Fault, failingRecords } from '../support/records/failing.ts';
import { brokenRules } from '../support/records/rules.ts';
import { type Act, startUseCases, USE_CASES, type UseCaseServices } from '../support/ways-in/use-cases.ts';
import { ownedAccount } from '../support/ways-in/world.ts';

const ORIGIN = 'https://auth.example.org';
const database = failingRecords();
const open = serviceStarter();
let services: UseCaseServices;
beforeAll(async () => {
  services = await startUseCases(open, storageOver(database.records));
  return services.usual.provider.close;
});
beforeEach(async () => {
  database.fail(null);
  database.restore(new Map());
  await services.usual.service.ports.records.insert('webhooks', aWebhook());
});

const useCaseOf = (name: string): string => name.split(',')[0] ?? name;
/** They change nothing but the number of an authorization. */
const READ_ONLY =
  /^(?:(?:list|count|show|preview|find)\w+|notifiesFormerAddress|getCurrentUser|identifyVisitor|authenticate|authenticateRequest|hasLaterLogin|exportAccountAsOperator|overview)$/;
/** Parts of other use cases. */
const PARTS =
  /^(?:sealCodes|unsealCodes|expiryOf|codeFor|hashOfCode|newConfirmationCode|assertLive|assertSteppedUp|providerOf|openSignInStarts|startAtProvider|makeBindingCode|makeAppCode|inviteBrowser|registerBrowser|beginPasskeyRegistration|passkeyChallenge|refusedLoginCounter|recordUnprovenDevice|reportRefusal|loginNotice|registerByPolicy|verifiedCode|recordIdentityUse|isBlocked)$/;
/** They are repeated in the background until they succeed, one by one: test/simulation. The command goes on where it has stopped. */
const ONE_BY_ONE = /^(?:sendMessages|deliverWebhooks|reEncryptFactors)$/;

/** What was kept without an answer, and is refused when it is asked for again: its link, its code or its row is gone. */
const USED_UP = [
  ...[
    'register, by an invitation',
    'login, by a recovery code',
    'logInWithCode',
    'logInWithAppCode',
    'finishLogin',
    'finishAtProvider',
    'signIn',
    'linkIdentity',
    'unlinkIdentity',
  ],
  ...['endOwnSession', 'endAllSessions', 'confirmApp', 'removeApp', 'addPasskey', 'removePasskey', 'resetPassword'],
  ...['confirmEmail', 'removeUnverifiedAccount', 'takeAccountBack', 'deleteAccount', 'revokeInvitation'],
  ...['createAccount', 'endSessionAsOperator', 'unlinkIdentityAsOperator', 'deleteAccountAsOperator'],
];

it('every use case of the application is here', () => {
  const exported = globSync(`${ROOT}src/application/**/*.ts`, { exclude: ['**/{ports,storage}/**'] }).flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^export const (\w+) =\s+\((?:deps|\{[^}]*\}): [^()]*?\)(?:: [^=]+?)? =>/gm,
      ),
    ].map(([, name = '']) => name),
  );
  const others = exported.filter((name) => ![READ_ONLY, PARTS, ONE_BY_ONE].some((each) => each.test(name)));
  expect(others.toSorted()).toEqual([...new Set(Object.keys(USE_CASES).map(useCaseOf))].toSorted());
});

type Outcome = { readonly isDone: boolean; readonly code: string | null };

const outcomeOf = async (act: Act): Promise<Outcome> => {
  try {
    const answer = Object(await act());
    if (answer.status === undefined) return { isDone: answer.valueOf() !== false, code: null };
    const { searchParams } = new URL(answer.headers.location ?? '', ORIGIN);
    const code: string | null = searchParams.get('error') ?? answer.body?.code ?? null;
    return { isDone: answer.status < 400 && searchParams.get('error') === null, code };
  } catch (error) {
    return { isDone: false, code: error instanceof AppError ? error.code : null };
  }
};

/** Without what shows that an operator's assertion was used: each request has another one. */
const contents = () => {
  const all = new Map(database.contents());
  return all.set('usedValues', all.get('usedValues')?.filter(({ id }) => !String(id).startsWith('operator ')) ?? []);
};

const wrongRows = (wrong: (...what: [string, ...string[]]) => unknown): void => {
  const [first, ...others] = brokenRules(contents());
  if (first !== undefined) wrong(first, ...others);
};

describe('when a statement fails, nothing is done or everything, and the request can be repeated:', () => {
  it.each(Object.entries(USE_CASES))('%s', async (name, given) => {
    const {
      prepare,
      by = 'usual',
      isProven = true,
      between = [],
    } = typeof given === 'function' ? { prepare: given } : given;
    const act = await prepare(
      await ownedAccount(services.usual, { isProven }).then((world) => ({ ...world, ...services[by] })),
    );
    const before = database.contents();
    const start = contents();
    const changes = () => changesBetween(start, contents());
    expect(brokenRules(start)).toEqual([]);
    expect(await outcomeOf(act)).toMatchObject({ isDone: true });
    const everything = changes();
    const problems: unknown[] = [];
    for (const how of ['refused', 'lost'] as const)
      for (let at = 1; ; at += 1) {
        database.restore(before);
        const fault: Fault = { at, how };
        database.fail(fault);
        const first = await outcomeOf(act);
        const left = changes();
        const hasFailed = database.hasFailed();
        database.fail(null);
        if (!hasFailed) break;
        const wrong = (what: string, ...more: unknown[]) => problems.push({ ...fault, what, ...first, left, more });
        const isDone = `${left}` === `${everything}`;
        if (left.length > 0 && !isDone && !between.includes(`${left}`)) wrong('neither nothing nor everything');
        if (first.isDone && left.length === 0 && !isDone) wrong('nothing is done');
        if (!first.isDone && ![null, 'DB_QUERY_FAILED'].includes(first.code)) wrong('another code');
        const hasOpened = how === 'refused' && `${left}`.includes('sessions +');
        if (!first.isDone && hasOpened) wrong('nobody has the session');
        if (database.openUnits() > 0) wrong('a unit is open');
        wrongRows(wrong);
        if (first.isDone) continue;
        const again = await outcomeOf(act);
        const isRepeated = left.length > 0 || `${changes()}` === `${everything}`;
        const mayBeRefused =
          left.length > 0 &&
          [name, useCaseOf(name)].some((each) => USED_UP.includes(each)) &&
          again.code !== 'DB_QUERY_FAILED';
        if (!(again.isDone && isRepeated) && !mayBeRefused) wrong('not repeatable', again, changes());
        wrongRows(wrong);
      }
    database.restore(before);
    expect(problems).toEqual([]);
  });
});
