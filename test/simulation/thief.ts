import { database } from './database.ts';
import { answerTo, askForLogIn, internet } from './internet.ts';
import { type Chance, expect, kernel, MINUTE, SECOND, trace } from './kernel.ts';
import { claimsOf, isLive, REFRESH, sessionOf, tokenIn, tokensOf } from './requests.ts';
import { allBrowsers, passwordOf, people, personOf, visitPages } from './visitor.ts';
import { facts, faultWithin, forgotSince, horizon, lettersTo, sessionRow, userNamed, world } from './world.ts';

/** Milliseconds within which the thief and the owner may take turns: the race window, and some time for rounding. */
const WINDOW = 12 * SECOND;
const ADDRESS = '203.0.113.66';

/** The attacks of a thief. */
const ATTACKS = [
  /** Tries passwords from many networks at once. */
  async (chance: Chance) => {
    const account = chance.pick(people).name;
    const attempts = Array.from({ length: 70 }, (_, at) => askForLogIn(`198.${18 + at}.0.1`, account, `wrong ${at}`));
    const compared = (await Promise.all(attempts)).filter((answer) => answer?.status === 401).length;
    expect('guesses of a password are limited', compared <= 52, () => `${compared} of ${account}`, faultWithin());
  },
  /** Has copied a GET request, and sends it again unchanged. */
  async (chance: Chance) => {
    const copied = internet.lastRead;
    await kernel.sleep(chance.spread(10, horizon() / 12));
    if (copied === undefined) return;
    const { own: id } = tokensOf(copied);
    if (!sessionRow(id)?.deviceKey) facts.touchedByThief.add(id);
    const answer = await answerTo({ ...copied, address: ADDRESS });
    trace(`the thief repeats ${copied.path}: ${answer?.status}`);
  },
  /** Has copied an access token, and perhaps the proof of another request, but not the key to which it is bound. */
  async (chance: Chance) => {
    const token = chance.pick([...facts.tokens.values()].filter((each) => claimsOf(each).cnf && isLive(each)));
    if (token === undefined) return;
    const dpop = chance.happens(0.5) && internet.lastRead?.headers?.dpop;
    const headers = { authorization: `${dpop ? 'DPoP' : 'Bearer'} ${token}`, ...(dpop && { dpop }) };
    const answer = await answerTo({ method: 'GET', path: '/auth/sessions', headers, address: ADDRESS });
    expect('a copied access token of a bound session is worthless', answer?.status !== 200, () => sessionOf(token));
  },
  /** Knows a password. */
  async (chance: Chance) => {
    const owner = chance.pick(people);
    const isGuarded = (): boolean => {
      // With `while-mail-works`, no code is needed while a mail has waited for some minutes.
      const isLate = database.rows('outbox').some(({ createdAt }) => Number(createdAt) < kernel.time - 4 * MINUTE);
      const opens = world.newDeviceCode === 'off' || (world.newDeviceCode === 'while-mail-works' && isLate);
      return Boolean(userNamed(owner.name)?.emailVerifiedAt) && !opens;
    };
    const wasGuarded = isGuarded();
    const answer = await askForLogIn(ADDRESS, owner.name, passwordOf(owner));
    trace(`a thief with the password of ${owner.name}: ${answer?.status}`);
    const excuse = !(wasGuarded && isGuarded()) && 'no code is needed';
    expect('on a new device a password alone opens no session', answer?.status !== 200, () => owner.name, excuse);
  },
  /** Copies the cookie of a refresh token, and refreshes with it as long as that works. */
  async (chance: Chance) => {
    const cookie = chance.pick(allBrowsers()).token();
    if (cookie === undefined) return;
    const id = sessionOf(cookie);
    const [isBound, stolenAt] = [Boolean(sessionRow(id)?.deviceKey), kernel.time];
    for (let [token, lastGot, tries] = [cookie, stolenAt, 2 + chance.below(8)]; tries > 0; tries -= 1) {
      await kernel.sleep(chance.spread(SECOND, horizon() / 12));
      if (!isBound) facts.touchedByThief.add(id);
      const headers = { cookie: `refresh_token=${token}`, 'user-agent': 'curl/8' };
      const arrivedAt = kernel.time;
      const answer = await answerTo({ method: 'POST', path: REFRESH, headers, address: ADDRESS });
      const isIn = answer?.status === 200;
      trace(`the thief of a cookie of ${id.slice(-5)}, bound: ${isBound}, gets ${answer?.status}`);
      if (isBound) expect('a copied cookie of a bound session is worthless', !isIn, () => id);
      if (!isIn) continue;
      const wasOwner = facts.refreshes.get(id)?.some((at) => at > lastGot + WINDOW && at < arrivedAt - WINDOW);
      const rule = "the owner's next refresh ends the session of a thief";
      expect(rule, !wasOwner, () => id, forgotSince(stolenAt));
      [token, lastGot] = [tokenIn(answer) ?? token, kernel.time];
    }
  },
  /** Has a mailbox for a minute, and opens its links. */
  async (chance: Chance) => {
    const [victim, mallory] = [chance.pick(people), personOf('mallory', 66, chance.fork())];
    trace(`a thief reads the mails of ${victim.name}`);
    for (let links = 3; links > 0; links -= 1) {
      const letters = [victim, mallory].flatMap(({ name }) => lettersTo(name).slice(-3));
      for (const browser of mallory.browsers) await visitPages(mallory, browser, chance.pick(letters));
    }
  },
];

export const runThief = async (chance: Chance): Promise<void> => {
  while (!world.isOver) {
    await kernel.sleep(chance.spread(5 * SECOND, horizon() / 4));
    for (const way of ATTACKS) if (!world.isOver && chance.happens(0.4)) await way(chance);
  }
};
