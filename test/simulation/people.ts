import { compact, ecdsa } from '../support/forgeries/forge.ts';
import type { Browser, Tab } from './browser.ts';
import { judgeLogOut } from './internet.ts';
import { DAY, kernel, MINUTE, SECOND } from './kernel.ts';
import { BASE, json } from './service.ts';
import { openTab } from './tab.ts';
import { lettersTo, mailedCode, newKey, notePassword, sendTwice, visit } from './visitor.ts';
import { ACTS, type Person, type World } from './world.ts';

/** What somebody does, one thing after the other, until the world ends. */
export const live = async (world: World, person: Person): Promise<void> => {
  const { story, chance, horizon, isOver } = world;
  for (let isKnown = false; !isOver(); ) {
    await kernel.sleep(chance.spread(300, isKnown ? horizon / 12 : 5 * MINUTE));
    if (isOver()) return;
    const browser = chance.pick(person.browsers);
    if (!isKnown) isKnown = await register(world, person, await visibleTab(world, browser));
    else if (chance.happens(0.5)) await disturb(world, browser);
    else if (chance.happens(0.25)) await refreshEverywhere(world, browser);
    else await act(world, person, browser);
  }
  story.tell(`${person.name} is done`);
};

/** Waits for what somebody does, and tells it. @returns the code of the error, if it fails */
const tried = async ({ story }: World, what: string, work: Promise<unknown>): Promise<string | undefined> => {
  const { error } = await story.within(what, work);
  story.tell(`${what}: ${error ? error.code : 'done'}`);
  return error && String(error.code);
};

const register = async (world: World, person: Person, tab: Tab): Promise<boolean> => {
  const [username, [password = '']] = [person.name, person.passwords];
  const registration = tab.auth.register({ username, email: `${username}@example.org`, ...(password && { password }) });
  const code = await tried(world, `${username} registers`, registration);
  if (code === undefined) person.sureSince = kernel.time;
  if (code === undefined && !password) await tried(world, `${username} adds a passkey`, addPasskey(person, tab.auth));
  return code === undefined || code === 'AUTH_USER_DUPLICATE';
};

const newTab = async (world: World, browser: Browser): Promise<Tab> => {
  const tab = openTab(browser);
  const hadSession = Object.values(browser.storage).some((generation) => Number(generation) > 0);
  const { result } = await world.story.within(`${browser.name} opens a tab`, tab.auth.ready);
  if (result === null && hadSession && !tab.isClosed()) judgeLogOut(world, browser, 'a new tab has nobody');
  return tab;
};

const visibleTab = async (world: World, browser: Browser): Promise<Tab> => {
  browser.wake();
  browser.line.isOffline = false;
  const tab = browser.tabs.size > 0 ? world.chance.pick([...browser.tabs]) : await newTab(world, browser);
  tab.show();
  return tab;
};

/** What happens to browsers: tabs come and go, laptops sleep, lines break. */
const EVENTS: Readonly<Record<string, (world: World, browser: Browser, tabs: readonly Tab[]) => unknown>> = {
  async open(world, browser) {
    browser.wake();
    if (browser.tabs.size < 5) await newTab(world, browser);
  },
  close: (_world, _browser, [tab]) => tab?.close(),
  hide: (_world, _browser, tabs) => tabs.map((tab) => tab.hide()),
  show: (_world, { tabs }) => [...tabs].map((tab) => tab.show()),
  freeze(_world, _browser, tabs) {
    for (const tab of tabs) {
      tab.hide();
      tab.freeze();
    }
  },
  sleep({ chance, horizon }, browser) {
    browser.sleep();
    kernel.after(chance.spread(SECOND, Math.min(3 * DAY, horizon / 8)), browser.wake);
  },
  offline({ chance, horizon }, { line, tabs }) {
    line.isOffline = true;
    kernel.after(chance.spread(SECOND, horizon / 10), () => {
      line.isOffline = false;
      for (const tab of tabs) tab.happens('online');
    });
  },
};
const disturb = async (world: World, browser: Browser): Promise<void> => {
  const { chance, story } = world;
  const name = chance.pick(['open', ...Object.keys(EVENTS)]);
  const some = [...browser.tabs].filter(() => chance.happens(0.5));
  await EVENTS[name]?.(world, browser, some);
  story.tell(`${browser.name}: ${name}`);
};

const refreshEverywhere = async (world: World, browser: Browser): Promise<void> => {
  await visibleTab(world, browser);
  const tabs = [...browser.tabs];
  for (const tab of tabs) tab.show();
  await tried(world, `${browser.name} refreshes`, Promise.allSettled(tabs.map((tab) => tab.auth.refresh())));
};

const act = async (world: World, person: Person, browser: Browser): Promise<void> => {
  const { chance } = world;
  const { auth } = await visibleTab(world, browser);
  const chosen = chance.happens(0.5) ? world.hot : chance.pick(ACTS);
  const letters = lettersTo(world, person);
  if (chosen === 'visit') return visit(world, person, browser);
  if (chosen === 'mail') return visit(world, person, browser, letters.length > 0 ? chance.pick(letters) : undefined);
  if (chosen === 'adoption') return arrive(world, person, browser);
  if (auth.user === null) return logIn(world, person, browser, auth);
  if (chosen === 'password') return changePassword(world, person, auth);
  const acts = {
    ask: () => auth.fetch(`${BASE}/users/me`),
    others: () => auth.sessions.endOthers(),
    logout: () => auth.logout(),
    passkey: () => addPasskey(person, auth),
  };
  await tried(world, `${browser.name}: ${chosen}`, acts[chosen]());
};

/** Who comes from the former system, which vouches for them. */
const arrive = async ({ database, chance, formerSystem }: World, person: Person, browser: Browser): Promise<void> => {
  const user = database.rows('users').find(({ username }) => username === person.name);
  const iat = Math.floor(kernel.now() / SECOND);
  const claims = { aud: BASE, sub: user?.id, jti: chance.uuid(), iat, exp: iat + 60 };
  const assertion = compact({ typ: 'adoption+jwt', alg: 'ES256' }, claims, ecdsa(formerSystem.privateKey));
  await sendTwice(browser, '/auth/adopt', { assertion });
};

/** Who has nothing else gets recovery codes with it. */
const addPasskey = async (person: Person, auth: Tab['auth']): Promise<void> => {
  const post = async (path: string, body?: object) => {
    const answer = await auth.fetch(`${BASE}/users/me/passkeys${path}`, { method: 'POST', ...(body && json(body)) });
    return Object(await answer.json()).data;
  };
  const key = newKey();
  const added = await post('', { credential: key.create((await post('/options')) ?? { challenge: 'none' }) });
  if (added) person.keys.push(key);
  if (added?.recoveryCodes) person.recoveryCodes = added.recoveryCodes;
};

/** A new device needs the code of a mail as well, which does not say which password was right. @returns whether it opens a session */
const typeMailedCode = async (world: World, person: Person, auth: Tab['auth']): Promise<boolean> => {
  await kernel.sleep(world.chance.spread(SECOND, 2 * MINUTE));
  const mailCode = mailedCode(world, person);
  if (mailCode === undefined) return false;
  const finished = auth.logInAt('/auth/login/second-factor', { mailCode });
  return (await tried(world, `${person.name} types a code`, finished)) === undefined;
};

/** Who does not know whether a change has happened tries both, and then registers anew. */
const logIn = async (world: World, person: Person, browser: Browser, auth: Tab['auth']): Promise<void> => {
  const { story, chance, facts, database } = world;
  const { name: account, sureSince, passwords } = person;
  for (const [at, password] of passwords.entries()) {
    const recoveryCode = chance.pick(person.recoveryCodes);
    if (password === '' && recoveryCode) await sendTwice(browser, '/auth/login', { account, password: recoveryCode });
    if (password === '') continue;
    const code = await tried(world, `${account} logs in`, auth.login({ account, password }));
    const isHalfWay = code === 'AUTH_SECOND_FACTOR_REQUIRED';
    if (isHalfWay && (await typeMailedCode(world, person, auth))) return;
    const isWrong = code === 'AUTH_CREDENTIALS_INVALID';
    const excuse =
      (sureSince === Number.POSITIVE_INFINITY && 'in doubt') ||
      facts.forgotSince(sureSince) ||
      (database.rows('users').every(({ username }) => username !== account) && 'another name') ||
      ((facts.passwords.get(account) ?? 0) > sureSince && 'changed since');
    if (at === 0) story.expect('the password works', !isWrong, () => account, excuse);
    if (code === undefined)
      Object.assign(person, { passwords: [...new Set([password, ...passwords])], sureSince: kernel.time });
    if (!isWrong && !isHalfWay) return;
    await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
  }
  const tab = await visibleTab(world, browser);
  if ((await register(world, person, tab)) && chance.happens(0.7)) await visit(world, person, browser);
};

const changePassword = async (world: World, person: Person, auth: Tab['auth']): Promise<void> => {
  const newPassword = `correct horse ${world.chance.below(1e9)}`;
  const change = auth.changePassword({ currentPassword: person.passwords[0] ?? '', newPassword });
  const code = await tried(world, `${person.name} changes the password`, change);
  if (code !== 'AUTH_CREDENTIALS_INVALID') notePassword(person, newPassword, code === undefined);
};
