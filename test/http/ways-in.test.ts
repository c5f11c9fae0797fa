// Proves theft-8, mail-10, mail-11
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { ACCOUNT_ACTS, type AccountAct, fateOf, WAYS_IN, type WayIn } from '../../src/domain/ways-in.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { APP_LINK } from '../support/http/app-login.ts';
import { servicesOverOneDatabase } from '../support/http/auth-http.ts';
import { WITH_OFFICE } from '../support/http/back-office.ts';
import { aPerson } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';
import { CLIENT, startProvider } from '../support/oidc/provider.ts';
import { ACTIONS, INTRUSIONS } from '../support/ways-in/acts.ts';
import { FORMER_PASSWORD, type HeldWay, WAYS } from '../support/ways-in/ways.ts';
import { type OwnedAccount, ownedAccount } from '../support/ways-in/world.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const mailer = memoryMailer();
const provider = await startProvider();
const formerSystem = createServer(async (request, response) => {
  const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  response.end(JSON.stringify({ valid: data.password === FORMER_PASSWORD }));
}).listen(0, '127.0.0.1');
await once(formerSystem, 'listening');
const { port } = formerSystem.address() as AddressInfo;
const { ADOPTION_PUBLIC_KEY } = ALL_ROUTES;
const env = {
  ...{ ...WITH_OFFICE, LOGIN_BY_CODE: 'on', PASSWORDS: 'optional', ADOPTION_PUBLIC_KEY },
  VERIFY_PASSWORDS_AT: `http://127.0.0.1:${port}/`,
  APP_LINKS: APP_LINK,
  ...{ OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: provider.issuer },
  ...{ OIDC_ACME_CLIENT_ID: CLIENT.id, OIDC_ACME_CLIENT_SECRET: CLIENT.secret },
};
const parts = { service: await start(env, () => ({ clock, mailer })), clock, mailer, provider };
afterAll(async () => {
  formerSystem.close();
});

/**
 * When the way is added: before the moment to which the act takes the account back, after it, or after the act. With `enabled`, before as well, and an
 * operator enables the account again.
 */
type Order = 'before' | 'since' | 'after' | 'enabled';

/** Ways into an account whose address nobody has proven. */
const UNPROVEN: readonly WayIn[] = ['email-verification', 'not-me', 'invitation'];
/** What the owner has of these is made by the act. */
const ONLY_OF_STRANGERS: readonly WayIn[] = ['device-key', 'identity', 'begun-sign-in'];
/** Older than a week when the address is changed. A sign-in that was begun does not wait that long. */
const AGED: readonly WayIn[] = ['passkey', 'app', 'recovery-code', 'identity'];
const EIGHT_DAYS = 8 * 86_400_000;

/** What cannot come after: an act that proves the address, or ends what cannot be had again. */
const NOT_AFTER: readonly (readonly [WayIn, AccountAct])[] = [
  ...ACCOUNT_ACTS.map((act) => ['adoption', act] as const).filter(([way, act]) => fateOf(way, act) !== 'stays'),
  // The first change of an address is the one that is undone.
  ['email-change-undo', 'email-changed'],
];
/** Its use is the act, or it changes what the act needs. */
const IS_THE_ACT: readonly (readonly [WayIn, AccountAct])[] = [
  ['email-change-undo', 'email-change-undone'],
  ['email-change-undo', 'factors-undone'],
  ['kept-identity', 'address-proven'],
];
const has = (pairs: readonly (readonly [WayIn, AccountAct])[], way: WayIn, act: AccountAct): boolean =>
  pairs.some(([each, by]) => each === way && by === act);

const expected = (way: WayIn, act: AccountAct, order: Order, mine: boolean): boolean => {
  const fate = fateOf(way, act);
  if (order === 'after' || fate === 'stays' || fate === 'named') return true;
  if (fate === 'waits') return order === 'enabled';
  if (fate === 'mine') return mine;
  // What there was before is left: before the log-in on a new device, or a week before the change of the address.
  if (fate === 'since' || fate === 'block')
    return order === 'before' && (act === 'factors-undone' || (act === 'email-change-undone' && AGED.includes(way)));
  return false;
};

type Walk = { readonly way: WayIn; readonly act: AccountAct; readonly order: Order; readonly mine: boolean };

const WALKS = WAYS_IN.flatMap((way) =>
  ACCOUNT_ACTS.flatMap((act): Walk[] => {
    const both = fateOf(way, act) === 'mine' && !ONLY_OF_STRANGERS.includes(way) ? [false, true] : [false];
    const before = both.map((mine): Walk => ({ way, act, order: 'before', mine }));
    if (has(IS_THE_ACT, way, act)) return [];
    const enabled: Walk[] = act === 'disabled' ? [{ way, act, order: 'enabled', mine: false }] : [];
    const since: Walk[] =
      INTRUSIONS[act] === undefined || UNPROVEN.includes(way) ? [] : [{ way, act, order: 'since', mine: false }];
    // A link for an address that nobody has proven is not made for one that somebody has; and a deleted account has none.
    const isOver =
      act === 'account-deleted' || act === 'disabled' || UNPROVEN.includes(way) || has(NOT_AFTER, way, act);
    const after: Walk[] = isOver ? [] : [{ way, act, order: 'after', mine: false }];
    return [...before, ...since, ...after, ...enabled];
  }),
);

/** What a mail about an act says of a way that stays. */
const NAMED: Readonly<Partial<Record<WayIn, RegExp>>> = {
  passkey: /Passkeys: "/,
  app: /Authenticator apps: 1/,
  identity: /Sign-ins: "acme/,
};

const walk = async ({ way, act, order, mine }: Walk): Promise<boolean> => {
  const isProven = act !== 'address-proven' && !UNPROVEN.includes(way);
  const world = await ownedAccount(parts, { isProven });
  const add = () => WAYS[way](world, mine);
  let held = order === 'before' || order === 'enabled' ? await add() : null;
  if (held !== null && act === 'email-change-undone' && AGED.includes(way)) {
    clock.advance(EIGHT_DAYS);
    expect(await world.enter()).toBe(true);
  }
  await INTRUSIONS[act]?.(world);
  if (order === 'since') held = await add();
  if (act === 'way-removed') await held?.remove?.();
  else await ACTIONS[act](world, mine);
  if (order === 'before' && fateOf(way, act) === 'named')
    expect(await world.lastMail(act === 'email-changed' ? 'was changed' : 'was reset')).toMatch(NAMED[way] ?? /^$/);
  if (order === 'enabled') expect((await world.office('post', `/users/${world.account.id}/enable`)).status).toBe(200);
  if (order === 'after') {
    expect(await world.enter()).toBe(true);
    await world.choosePassword();
    held = await add();
  }
  return held?.works() ?? expect.unreachable('nothing was added');
};

/** What the link of an undo in the oldest mail to the former address leaves of the passkeys that were added. */
const leftByUndo = async (world: OwnedAccount, undo: 'email-change' | 'factors', keys: readonly HeldWay[]) => {
  const token = await world.tokenIn(world.account.mailbox, `${undo}-undo`);
  await world.confirmLink(`/auth/${undo}/undo`, token).expect(200);
  return Promise.all(keys.map(({ works }) => works()));
};

it('an undo takes back what was added before the address was changed back, and away again', async () => {
  for (const isAwayAgain of [false, true]) {
    const world = await ownedAccount(parts, { isProven: true });
    await world.changeAddress(world.account.other);
    const key = await WAYS.passkey(world, false);
    await world.changeAddress(world.account.mailbox);
    if (isAwayAgain) await world.changeAddress(aPerson().email);
    expect(await leftByUndo(world, 'email-change', [key])).toEqual([false]);
  }
});

it('an undo by an address that was given up unproven leaves nothing', async () => {
  const world = await ownedAccount(parts, { isProven: false });
  const keys = [await WAYS.passkey(world, false), await WAYS.passkey(world, false)];
  await world.changeAddress(world.account.other);
  expect(await leftByUndo(world, 'factors', keys)).toEqual([false, false]);
});

describe.each(WAYS_IN)('the way in %s', (each) => {
  it.each(WALKS.filter(({ way }) => way === each))('$act, added $order it, by who acts: $mine', async (one) => {
    expect(await walk(one)).toBe(expected(one.way, one.act, one.order, one.mine));
  });
});
