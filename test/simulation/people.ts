import type { AuthClient } from '../../client/src/types.ts';
import type { Browser, Tab } from './browser.ts';
import { judgeLogOut } from './internet.ts';
import { DAY, expect, kernel, MINUTE, SECOND, trace, traced, within } from './kernel.ts';
import { BASE } from './requests.ts';
import { openTab } from './tab.ts';
import { mailedCode, type Person, passwordOf, request, sendTwice, visitPages } from './visitor.ts';
import { hasPassword, horizon, lettersTo, pickOften, userNamed, world } from './world.ts';

/** A person does one thing after the other until the world ends. */
export const runPerson = async (person: Person): Promise<void> => {
  const { chance, browsers, name } = person;
  for (let isKnown = false; !world.isOver; ) {
    await kernel.sleep(chance.spread(300, isKnown ? horizon() / 12 : 5 * MINUTE));
    if (world.isOver) return;
    const browser = chance.pick(browsers);
    if (!isKnown) isKnown = await register(person, browser);
    else await (chance.happens(0.6) ? causeBrowserEvent(person, browser) : doSomething(person, browser));
  }
  trace(`${name} is done`);
};

/** Registers a person. A person without a password adds a passkey. @returns whether there is an account */
const register = async (person: Person, browser: Browser): Promise<boolean> => {
  const { auth } = await visibleTab(person, browser);
  const [username, [password]] = [person.name, person.passwords];
  const registration = auth.register({ username, email: `${username}@example.org`, ...(password && { password }) });
  const code = await traced(`${username} registers`, registration);
  if (!code && !password) await request(person, browser, auth, 'add-passkey');
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

const visibleTab = async ({ chance }: Person, browser: Browser): Promise<Tab> => {
  browser.wake();
  browser.line.onLine = true;
  const tab = browser.tabs.size > 0 ? chance.pick([...browser.tabs]) : await newTab(browser);
  tab.show();
  return tab;
};

/** Events of browsers: tabs are opened and closed, laptops sleep, connections break. */
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
    await traced(`${browser.name} refreshes`, Promise.allSettled([...browser.tabs].map((tab) => tab.auth.refresh())));
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
const causeBrowserEvent = async (person: Person, browser: Browser): Promise<void> => {
  const name = person.chance.pick(['open', 'refresh', ...Object.keys(EVENTS)]);
  const some = [...browser.tabs].filter(() => person.chance.happens(0.5));
  await EVENTS[name]?.(browser, some, person);
  trace(`${browser.name}: ${name}`);
};

/** Acts that a person does with or without a session. */
const ACTS: Readonly<Record<string, (person: Person, browser: Browser, auth: AuthClient) => Promise<unknown>>> = {
  visit: (person, browser) => visitPages(person, browser),
  mail: (person, browser) => visitPages(person, browser, person.chance.pick(lettersTo(person.name))),
  request,
  adopt: (...given) => request(...given, 'adopt'),
};
/** Acts that need a session. A person who has none logs in instead. */
const OF_SESSION: typeof ACTS = {
  ask: (_person, _browser, auth) => auth.fetch(`${BASE}/users/me`),
  others: (_person, _browser, auth) => auth.sessions.endOthers(),
  logout: (_person, _browser, auth) => auth.logout(),
  password(person, _browser, auth) {
    const [currentPassword, newPassword] = [passwordOf(person), `correct horse ${person.chance.below(1e9)}`];
    person.passwords.push(newPassword);
    return auth.changePassword({ currentPassword, newPassword });
  },
};
const ALL = Object.entries({ ...ACTS, ...OF_SESSION });
const doSomething = async (person: Person, browser: Browser): Promise<void> => {
  const { auth } = await visibleTab(person, browser);
  const [name, run] = pickOften(person.chance, ALL);
  if (name in OF_SESSION && auth.user === null) await logIn(person, browser, auth);
  else if (name in OF_SESSION) await traced(`${browser.name}: ${name}`, run(person, browser, auth));
  else await run(person, browser, auth);
};

/** Logs a person in. If that fails, the person tries to register again, and may visit the pages. */
const logIn = async (person: Person, browser: Browser, auth: AuthClient): Promise<void> => {
  const { name: account, chance } = person;
  const [password, recoveryCode] = [passwordOf(person), chance.pick(person.recoveryCodes)];
  let code: string | undefined = 'no password';
  if (password) {
    const isRight = () => hasPassword(userNamed(account), password);
    const wasRight = isRight();
    code = await traced(`${account} logs in`, auth.login({ account, password }));
    if (wasRight && isRight()) expect('the password works', code !== 'AUTH_CREDENTIALS_INVALID', () => account);
  } else if (recoveryCode) await sendTwice(browser, '/auth/login', { account, password: recoveryCode });
  await kernel.sleep(chance.spread(SECOND, MINUTE));
  // On a new device, a code by mail is needed as well, even if the password was wrong.
  if (code === 'AUTH_SECOND_FACTOR_REQUIRED')
    code = await traced(
      `${account} types a code`,
      auth.logInAt('/auth/login/second-factor', { mailCode: mailedCode(person) }),
    );
  if (code && (await register(person, browser)) && chance.happens(0.7)) await visitPages(person, browser);
};
