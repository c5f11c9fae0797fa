import type { Row } from '../../src/adapters/records/memory.ts';
import { type Browser, openBrowser } from './browser.ts';
import { partOf, sessionOf, tokenIn, tokenOf } from './facts.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import { json } from './service.ts';
import { lettersTo, visit } from './visitor.ts';
import type { Person, World } from './world.ts';

/** Milliseconds: within the race window, and a second for what is rounded, the thief and the owner may take turns. */
const WINDOW = 12 * SECOND;

/** Copies cookies, and renews them for as long as that works; or has a mailbox for a minute, and opens its links. */
export const steal = async (world: World): Promise<void> => {
  const { chance, horizon, isOver, browsers, people, internet } = world;
  const machine = { name: 'mallory', address: '203.0.113.66', skew: 0, hasKeys: false };
  const own = openBrowser(internet, chance.fork(), machine);
  while (!isOver()) {
    await kernel.sleep(chance.spread(5 * SECOND, horizon / 4));
    if (chance.happens(0.2)) await guess(world);
    if (chance.happens(0.5)) await repeat(world);
    if (chance.happens(0.5)) await useToken(world);
    if (chance.happens(0.5)) await usePassword(world, chance.pick(people));
    const cookie = chance.pick(browsers).token();
    if (isOver()) return;
    if (cookie !== undefined && chance.happens(0.5)) await renew(world, cookie);
    else await readMails(world, chance.pick(people), own);
  }
};

const readMails = async (world: World, victim: Person, browser: Browser): Promise<void> => {
  const nothing = { passwords: [], secrets: [], keys: [], recoveryCodes: [] };
  const mallory: Person = { ...victim, ...nothing, name: browser.name };
  world.story.tell(`a thief reads the mails of ${victim.name}`);
  victim.sureSince = Number.POSITIVE_INFINITY;
  for (let links = 3; links > 0; links -= 1) {
    const letters = [victim, mallory].flatMap((each) => lettersTo(world, each).slice(-3));
    if (letters.length > 0) await visit(world, mallory, browser, world.chance.pick(letters));
  }
};

const renew = async ({ story, facts, chance, horizon, ask }: World, cookie: string): Promise<void> => {
  const id = sessionOf(cookie);
  const isBound = Boolean(facts.rowOf(id)?.deviceKey);
  const stolenAt = kernel.time;
  story.tell(`a thief copies a cookie of ${id.slice(-5)}, bound: ${isBound}`);
  for (let [token, lastGot, tries] = [cookie, stolenAt, 1 + chance.below(6)]; tries > 0; tries -= 1) {
    await kernel.sleep(chance.spread(SECOND, horizon / 12));
    if (!isBound) facts.touchedByThief.add(id);
    const headers = { cookie: `refresh_token=${token}`, 'user-agent': 'curl/8' };
    const arrivedAt = kernel.time;
    const answer = await ask({ method: 'POST', path: '/auth/refresh-token', headers, address: '203.0.113.66' });
    const isIn = answer?.status === 200;
    story.tell(`the thief gets ${answer?.status}`);
    if (isBound) story.expect('a copied cookie of a bound session is worthless', !isIn, () => id);
    if (answer === null || !isIn) continue;
    const wasOwner = facts.refreshes.get(id)?.some((at) => at > lastGot + WINDOW && at < arrivedAt - WINDOW);
    const excuse = facts.forgotSince(stolenAt);
    story.expect("the owner's next refresh ends the session of a thief", !wasOwner, () => id, excuse);
    [token, lastGot] = [tokenIn(answer) ?? token, kernel.time];
  }
};

/** Tries passwords from many networks at once. */
const guess = async ({ story, facts, chance, ask, people }: World): Promise<void> => {
  const account = chance.pick(people).name;
  const attempts = Array.from({ length: 70 }, (_, at) =>
    ask({
      ...{ method: 'POST', path: '/auth/login', address: `198.${18 + at}.0.1` },
      ...json({ account, password: `wrong ${at}` }),
    }),
  );
  const compared = (await Promise.all(attempts)).filter((answer) => answer?.status === 401).length;
  const excuse = facts.faultWithin(MINUTE);
  story.expect('guesses of a password are limited', compared <= 52, () => `${compared} of ${account}`, excuse);
};

/** Sends again what somebody has read, with all its headers, or finds nothing to copy. */
const repeat = async ({ story, facts, chance, horizon, internet }: World): Promise<void> => {
  const copied = chance.happens(0.5) ? internet.lastRead : undefined;
  await kernel.sleep(chance.spread(10, horizon / 12));
  if (copied === undefined) return;
  const id = sessionOf(tokenOf(copied));
  if (!facts.rowOf(id)?.deviceKey) facts.touchedByThief.add(id);
  const answer = await internet.ask({ ...copied, address: '203.0.113.66' });
  story.tell(`the thief repeats ${copied.path}: ${answer?.status}`);
};

/** Has copied an access token, but not the key to which it may be bound. */
const useToken = async ({ story, facts, chance, internet, ask }: World): Promise<void> => {
  const token = chance.pick([...facts.tokens.values()]) ?? '';
  const proof = internet.lastRead?.headers.dpop;
  const headers = { authorization: `${chance.pick(['Bearer', 'DPoP'])} ${token}`, ...(proof && { dpop: proof }) };
  const answer = await ask({ method: 'GET', path: '/users/me', headers, address: '203.0.113.66' });
  const excuse = !partOf(token, 1)?.cnf && 'it is not bound';
  const rule = 'a copied access token of a bound session is worthless';
  story.expect(rule, answer?.status !== 200, () => sessionOf(token), excuse);
};

/** Knows a password. */
const usePassword = async ({ story, database, ask, newDeviceCode }: World, victim: Person): Promise<void> => {
  const { name: account, passwords } = victim;
  const isGuarded = (): boolean => {
    const user = database.rows('users').find(({ username }) => username === account);
    // It may be late in a moment.
    const isLate = ({ kind, userId, createdAt }: Row) =>
      kind === 'new-device-code' && userId === user?.id && Number(createdAt) < kernel.time - 4 * MINUTE;
    const opens = newDeviceCode === 'while-mail-works' && database.rows('outbox').some(isLate);
    return newDeviceCode !== 'off' && Boolean(user?.emailVerifiedAt) && !opens;
  };
  const wasGuarded = isGuarded();
  const sent = json({ account, password: passwords[0] });
  const answer = await ask({ method: 'POST', path: '/auth/login', address: '203.0.113.66', ...sent });
  story.tell(`a thief with the password of ${account}: ${answer?.status}`);
  const excuse = !(wasGuarded && isGuarded()) && 'no code is needed';
  story.expect('on a new device a password alone opens no session', answer?.status !== 200, () => account, excuse);
};
