import type { AuthClient } from '../../client/src/types.ts';
import { compact, ecdsa } from '../support/forgeries/forge.ts';
import type { Browser, Tab } from './browser.ts';
import { judgeLogOut } from './internet.ts';
import { DAY, expect, kernel, MINUTE, SECOND, tell, within } from './kernel.ts';
import { BASE, json } from './requests.ts';
import { deployment } from './service.ts';
import { openTab } from './tab.ts';
import { mailedCode, newKey, type Person, passwordOf, sendTwice, visit } from './visitor.ts';
import { hasPassword, horizon, hotOf, lettersTo, userNamed, world } from './world.ts';

/** What somebody does, one thing after the other, until the world ends. */
export const live = async (person: Person): Promise<void> => {
  const { chance, browsers, name } = person;
  for (let isKnown = false; !world.isOver; ) {
    await kernel.sleep(chance.spread(300, isKnown ? horizon() / 12 : 5 * MINUTE));
    if (world.isOver) return;
    const browser = chance.pick(browsers);
    if (!isKnown) isKnown = await register(person, await visibleTab(person, browser));
    else await (chance.happens(0.6) ? disturb(person, browser) : act(person, browser));
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
  if (code === undefined && !password) await tried(`${username} adds a passkey`, addPasskey(person, auth));
  return code === undefined || code === 'AUTH_USER_DUPLICATE';
};

/** Who has nothing else gets recovery codes with it. */
const addPasskey = async (person: Person, auth: AuthClient): Promise<void> => {
  const post = async (path: string, body?: object) => {
    const answer = await auth.fetch(`${BASE}/users/me/passkeys${path}`, { method: 'POST', ...(body && json(body)) });
    return Object(await answer.json()).data;
  };
  const key = newKey();
  const added = await post('', { credential: key.create((await post('/options')) ?? { challenge: 'none' }) });
  if (added) person.keys.push(key);
  if (added?.recoveryCodes) person.recoveryCodes = added.recoveryCodes;
};

const newTab = async (browser: Browser): Promise<Tab> => {
  const tab = openTab(browser);
  const hadSession = Object.values(browser.storage).some((generation) => Number(generation) > 0);
  const { result } = await within(`${browser.name} opens a tab`, tab.auth.ready);
  if (result === null && hadSession && browser.tabs.has(tab))
    judgeLogOut(browser.name, browser.token(), 'a new tab has nobody');
  return tab;
};

const visibleTab = async ({ chance }: Person, browser: Browser): Promise<Tab> => {
  browser.wake();
  browser.line.onLine = true;
  const tab = browser.tabs.size > 0 ? chance.pick([...browser.tabs]) : await newTab(browser);
  tab.show();
  return tab;
};

/** What happens to browsers: tabs come and go, laptops sleep, lines break. */
const EVENTS: Readonly<Record<string, (browser: Browser, some: readonly Tab[], person: Person) => unknown>> = {
  async open(browser) {
    browser.wake();
    if (browser.tabs.size < 5) await newTab(browser);
  },
  close: (_browser, [tab]) => tab?.close(),
  hide: (_browser, some) => some.map((tab) => tab.hide()),
  show: ({ tabs }) => [...tabs].map((tab) => tab.show()),
  freeze: (_browser, some) => some.map((tab) => tab.freeze()),
  async refresh(browser, _some, person) {
    await visibleTab(person, browser);
    for (const tab of browser.tabs) tab.show();
    await tried(`${browser.name} refreshes`, Promise.allSettled([...browser.tabs].map((tab) => tab.auth.refresh())));
  },
  sleep(browser, _some, { chance }) {
    browser.sleep();
    kernel.after(chance.spread(SECOND, Math.min(3 * DAY, horizon() / 8)), browser.wake);
  },
  offline({ line, tabs }, _some, { chance }) {
    line.onLine = false;
    kernel.after(chance.spread(SECOND, horizon() / 10), () => {
      line.onLine = true;
      for (const tab of tabs) tab.happens('online');
    });
  },
};
const disturb = async (person: Person, browser: Browser): Promise<void> => {
  const { chance } = person;
  const name = chance.pick(['open', 'refresh', ...Object.keys(EVENTS)]);
  await EVENTS[name]?.(
    browser,
    [...browser.tabs].filter(() => chance.happens(0.5)),
    person,
  );
  tell(`${browser.name}: ${name}`);
};

type Act = (person: Person, browser: Browser, auth: AuthClient) => Promise<unknown>;
const ACTS: Readonly<Record<string, Act>> = {
  ask: (_person, _browser, auth) => auth.fetch(`${BASE}/users/me`),
  others: (_person, _browser, auth) => auth.sessions.endOthers(),
  logout: (_person, _browser, auth) => auth.logout(),
  password(person, _browser, auth) {
    const [currentPassword, newPassword] = [passwordOf(person), `correct horse ${person.chance.below(1e9)}`];
    person.passwords.push(newPassword);
    return auth.changePassword({ currentPassword, newPassword });
  },
  visit: (person, browser) => visit(person, browser),
  mail: (person, browser) => visit(person, browser, person.chance.pick(lettersTo(person.name))),
  /** Who comes from the former system, which vouches for them. */
  async adoption({ chance, name }, browser) {
    const iat = Math.floor(kernel.now() / SECOND);
    const claims = { aud: BASE, sub: userNamed(name)?.id, jti: chance.id(), iat, exp: iat + 60 };
    const assertion = compact({ typ: 'adoption+jwt', alg: 'ES256' }, claims, ecdsa(deployment.formerSystem.privateKey));
    await sendTwice(browser, '/auth/adopt', { assertion });
  },
};
const NEEDS_SESSION = /^(ask|others|logout|password)$/;
const act = async (person: Person, browser: Browser): Promise<void> => {
  const { auth } = await visibleTab(person, browser);
  const [name, run] = person.chance.happens(0.5)
    ? hotOf(Object.entries(ACTS))
    : person.chance.pick(Object.entries(ACTS));
  if (!NEEDS_SESSION.test(name)) await run(person, browser, auth);
  else if (auth.user === null) await logIn(person, browser, auth);
  else await tried(`${browser.name}: ${name}`, run(person, browser, auth));
};

/** Who cannot log in registers anew. */
const logIn = async (person: Person, browser: Browser, auth: AuthClient): Promise<void> => {
  const { name: account, chance } = person;
  const password = passwordOf(person);
  const recoveryCode = chance.pick(person.recoveryCodes);
  if (password) {
    const isRight = () => hasPassword(userNamed(account), password);
    const wasRight = isRight();
    const code = await tried(`${account} logs in`, auth.login({ account, password }));
    const isWrong = code === 'AUTH_CREDENTIALS_INVALID';
    if (wasRight && isRight()) expect('the password works', !isWrong, () => account);
    if (code === 'AUTH_SECOND_FACTOR_REQUIRED' ? await typeMailedCode(person, auth) : !isWrong) return;
  } else if (recoveryCode) await sendTwice(browser, '/auth/login', { account, password: recoveryCode });
  await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
  if ((await register(person, await visibleTab(person, browser))) && chance.happens(0.7)) await visit(person, browser);
};

/** A new device needs the code of a mail as well, which does not say which password was right. @returns whether it opens a session */
const typeMailedCode = async (person: Person, auth: AuthClient): Promise<boolean> => {
  await kernel.sleep(person.chance.spread(SECOND, 2 * MINUTE));
  const mailCode = mailedCode(person);
  if (mailCode === undefined) return false;
  const finished = auth.logInAt('/auth/login/second-factor', { mailCode });
  return (await tried(`${person.name} types a code`, finished)) === undefined;
};
