import { compact, ecdsa } from '../support/forgeries/forge.ts';
import type { Browser, Tab } from './browser.ts';
import { ACTS, facts, forgotSince, horizon, userNamed, world } from './facts.ts';
import { judgeLogOut } from './internet.ts';
import { type Chance, DAY, expect, kernel, MINUTE, SECOND, tell, within } from './kernel.ts';
import { BASE, json } from './outside.ts';
import { deployment } from './service.ts';
import { openTab } from './tab.ts';
import { lettersTo, mailedCode, newKey, notePassword, type Person, sendTwice, visit } from './visitor.ts';

/** What somebody does, one thing after the other, until the world ends. */
export const live = async (person: Person): Promise<void> => {
  const { chance, browsers, name } = person;
  for (let isKnown = false; !world.isOver; ) {
    await kernel.sleep(chance.spread(300, isKnown ? horizon() / 12 : 5 * MINUTE));
    if (world.isOver) return;
    const browser = chance.pick(browsers);
    if (!isKnown) isKnown = await register(person, await visibleTab(chance, browser));
    else if (chance.happens(0.5)) await disturb(chance, browser);
    else if (chance.happens(0.25)) await refreshEverywhere(chance, browser);
    else await act(person, browser);
  }
  tell(`${name} is done`);
};

/** Waits for what somebody does, and tells it. @returns the code of the error, if it fails */
const tried = async (what: string, work: Promise<unknown>): Promise<string | undefined> => {
  const { error } = await within(what, work);
  tell(`${what}: ${error ? error.code : 'done'}`);
  return error && String(error.code);
};

const register = async (person: Person, { auth }: Tab): Promise<boolean> => {
  const [username, [password]] = [person.name, person.passwords];
  const registration = auth.register({ username, email: `${username}@example.org`, ...(password && { password }) });
  const code = await tried(`${username} registers`, registration);
  if (code === undefined) person.sureSince = kernel.time;
  if (code === undefined && !password) await tried(`${username} adds a passkey`, addPasskey(person, auth));
  return code === undefined || code === 'AUTH_USER_DUPLICATE';
};

const newTab = async (browser: Browser): Promise<Tab> => {
  const tab = openTab(browser);
  const hadSession = Object.values(browser.storage).some((generation) => Number(generation) > 0);
  const { result } = await within(`${browser.name} opens a tab`, tab.auth.ready);
  if (result === null && hadSession && browser.tabs.has(tab))
    judgeLogOut(browser.name, browser.token(), 'a new tab has nobody');
  return tab;
};

const visibleTab = async (chance: Chance, browser: Browser): Promise<Tab> => {
  browser.wake();
  browser.line.isOffline = false;
  const tab = browser.tabs.size > 0 ? chance.pick([...browser.tabs]) : await newTab(browser);
  tab.show();
  return tab;
};

/** What happens to browsers: tabs come and go, laptops sleep, lines break. */
const EVENTS: Readonly<Record<string, (chance: Chance, browser: Browser, tabs: readonly Tab[]) => unknown>> = {
  async open(_chance, browser) {
    browser.wake();
    if (browser.tabs.size < 5) await newTab(browser);
  },
  close: (_chance, _browser, [tab]) => tab?.close(),
  hide: (_chance, _browser, tabs) => tabs.map((tab) => tab.hide()),
  show: (_chance, { tabs }) => [...tabs].map((tab) => tab.show()),
  freeze: (_chance, _browser, tabs) => tabs.map((tab) => tab.freeze()),
  sleep(chance, browser) {
    browser.sleep();
    kernel.after(chance.spread(SECOND, Math.min(3 * DAY, horizon() / 8)), browser.wake);
  },
  offline(chance, { line, tabs }) {
    line.isOffline = true;
    kernel.after(chance.spread(SECOND, horizon() / 10), () => {
      line.isOffline = false;
      for (const tab of tabs) tab.happens('online');
    });
  },
};
const disturb = async (chance: Chance, browser: Browser): Promise<void> => {
  const name = chance.pick(['open', ...Object.keys(EVENTS)]);
  const some = [...browser.tabs].filter(() => chance.happens(0.5));
  await EVENTS[name]?.(chance, browser, some);
  tell(`${browser.name}: ${name}`);
};

const refreshEverywhere = async (chance: Chance, browser: Browser): Promise<void> => {
  await visibleTab(chance, browser);
  const tabs = [...browser.tabs];
  for (const tab of tabs) tab.show();
  await tried(`${browser.name} refreshes`, Promise.allSettled(tabs.map((tab) => tab.auth.refresh())));
};

const act = async (person: Person, browser: Browser): Promise<void> => {
  const { chance } = person;
  const { auth } = await visibleTab(chance, browser);
  const chosen = chance.happens(0.5) ? world.hot : chance.pick(ACTS);
  const letters = lettersTo(person);
  if (chosen === 'visit') return visit(person, browser);
  if (chosen === 'mail') return visit(person, browser, letters.length > 0 ? chance.pick(letters) : undefined);
  if (chosen === 'adoption') return arrive(person, browser);
  if (auth.user === null) return logIn(person, browser, auth);
  if (chosen === 'password') return changePassword(person, auth);
  const acts = {
    ask: () => auth.fetch(`${BASE}/users/me`),
    others: () => auth.sessions.endOthers(),
    logout: () => auth.logout(),
    passkey: () => addPasskey(person, auth),
  };
  await tried(`${browser.name}: ${chosen}`, acts[chosen]());
};

/** Who comes from the former system, which vouches for them. */
const arrive = async ({ chance, name }: Person, browser: Browser): Promise<void> => {
  const iat = Math.floor(kernel.now() / SECOND);
  const claims = { aud: BASE, sub: userNamed(name)?.id, jti: chance.id(), iat, exp: iat + 60 };
  const assertion = compact({ typ: 'adoption+jwt', alg: 'ES256' }, claims, ecdsa(deployment.formerSystem.privateKey));
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
const typeMailedCode = async (person: Person, auth: Tab['auth']): Promise<boolean> => {
  await kernel.sleep(person.chance.spread(SECOND, 2 * MINUTE));
  const mailCode = mailedCode(person);
  if (mailCode === undefined) return false;
  const finished = auth.logInAt('/auth/login/second-factor', { mailCode });
  return (await tried(`${person.name} types a code`, finished)) === undefined;
};

/** Who does not know whether a change has happened tries both, and then registers anew. */
const logIn = async (person: Person, browser: Browser, auth: Tab['auth']): Promise<void> => {
  const { name: account, chance, sureSince, passwords } = person;
  for (const [at, password] of passwords.entries()) {
    const recoveryCode = chance.pick(person.recoveryCodes);
    if (password === '' && recoveryCode) await sendTwice(browser, '/auth/login', { account, password: recoveryCode });
    if (password === '') continue;
    const code = await tried(`${account} logs in`, auth.login({ account, password }));
    const isHalfWay = code === 'AUTH_SECOND_FACTOR_REQUIRED';
    if (isHalfWay && (await typeMailedCode(person, auth))) return;
    const isWrong = code === 'AUTH_CREDENTIALS_INVALID';
    const excuse =
      (sureSince === Number.POSITIVE_INFINITY && 'in doubt') ||
      forgotSince(sureSince) ||
      (userNamed(account) === undefined && 'another name') ||
      ((facts.passwords.get(account) ?? 0) > sureSince && 'changed since');
    if (at === 0) expect('the password works', !isWrong, () => account, excuse);
    if (code === undefined)
      Object.assign(person, { passwords: [...new Set([password, ...passwords])], sureSince: kernel.time });
    if (!isWrong && !isHalfWay) return;
    await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
  }
  const tab = await visibleTab(chance, browser);
  if ((await register(person, tab)) && chance.happens(0.7)) await visit(person, browser);
};

const changePassword = async (person: Person, auth: Tab['auth']): Promise<void> => {
  const newPassword = `correct horse ${person.chance.below(1e9)}`;
  const change = auth.changePassword({ currentPassword: person.passwords[0] ?? '', newPassword });
  const code = await tried(`${person.name} changes the password`, change);
  if (code !== 'AUTH_CREDENTIALS_INVALID') notePassword(person, newPassword, code === undefined);
};
