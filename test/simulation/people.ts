import type { Browser, Internet, Tab } from './browser.ts';
import type { Chance } from './chance.ts';
import type { Facts } from './facts.ts';
import { DAY, kernel, MINUTE, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import { BASE } from './service.ts';
import { openTab } from './tab.ts';

export type Person = {
  readonly name: string;
  readonly email: string;
  readonly browsers: readonly Browser[];
  /** The one that counts first; others may, after a change whose outcome is not known, or was forgotten. */
  passwords: readonly string[];
  isSure: boolean;
  /** When the account or its password was changed last. */
  changedAt: number;
};
type Life = {
  readonly internet: Internet;
  readonly story: Story;
  readonly facts: Facts;
  readonly chance: Chance;
  /** Milliseconds of the whole run. */
  readonly horizon: number;
  readonly isOver: () => boolean;
  /** What this world does more often. */
  readonly hot: Act;
  readonly onNobody: (browser: Browser, how: string) => void;
};
export const ACTS = ['ask', 'password', 'others', 'logout'] as const;
type Act = (typeof ACTS)[number];

/** What somebody does, one thing after the other, until the world ends. */
export const live = async (life: Life, person: Person): Promise<void> => {
  const { story, chance, horizon, isOver } = life;
  for (let isKnown = false; !isOver(); ) {
    await kernel.sleep(chance.spread(300, isKnown ? horizon / 12 : 5 * MINUTE));
    if (isOver()) return;
    const browser = chance.pick(person.browsers);
    if (!isKnown) isKnown = await register(life, person, await visibleTab(life, browser));
    else if (chance.happens(0.5)) await disturb(life, browser);
    else if (chance.happens(0.25)) await refreshEverywhere(life, browser);
    else await act(life, person, browser);
  }
  story.tell(`${person.name} is done`);
};

const register = async ({ story }: Life, person: Person, tab: Tab): Promise<boolean> => {
  const {
    name,
    email,
    passwords: [password = ''],
  } = person;
  const { error } = await story.within(`${name} registers`, tab.auth.register({ username: name, email, password }));
  story.tell(`${name} registers: ${error?.code ?? 'done'}`);
  if (error === undefined) person.changedAt = kernel.time;
  return error === undefined || error.code === 'AUTH_USER_DUPLICATE';
};

const newTab = async ({ internet, story, onNobody }: Life, browser: Browser): Promise<Tab> => {
  const tab = openTab(browser, internet);
  const hadSession = Object.values(browser.storage).some((generation) => Number(generation) > 0);
  const { result } = await story.within(`${browser.name} opens a tab`, tab.auth.ready);
  if (result === null && hadSession && !tab.isClosed()) onNobody(browser, 'a new tab has nobody');
  return tab;
};

const visibleTab = async (life: Life, browser: Browser): Promise<Tab> => {
  browser.wake();
  browser.line.isOffline = false;
  const tab = browser.tabs.size > 0 ? life.chance.pick([...browser.tabs]) : await newTab(life, browser);
  tab.show();
  return tab;
};

/** What happens to browsers: tabs come and go, laptops sleep, lines break. */
const disturb = async (life: Life, browser: Browser): Promise<void> => {
  const { chance, story, horizon } = life;
  const tabs = [...browser.tabs];
  const some = () => tabs.filter(() => chance.happens(0.5));
  const kind = chance.pick(['open', 'open', 'close', 'hide', 'show', 'freeze', 'sleep', 'offline'] as const);
  if (kind === 'open' && tabs.length < 5) {
    browser.wake();
    await newTab(life, browser);
  } else if (kind === 'close') tabs[0]?.close();
  else if (kind === 'hide') for (const tab of some()) tab.hide();
  else if (kind === 'show') for (const tab of tabs) tab.show();
  else if (kind === 'freeze')
    for (const tab of some()) {
      tab.hide();
      tab.freeze();
    }
  else if (kind === 'sleep') {
    browser.sleep();
    kernel.after(chance.spread(SECOND, Math.min(3 * DAY, horizon / 8)), browser.wake);
  } else if (kind === 'offline') {
    browser.line.isOffline = true;
    kernel.after(chance.spread(SECOND, horizon / 10), () => {
      browser.line.isOffline = false;
      for (const tab of browser.tabs) tab.happens('online');
    });
  }
  story.tell(`${browser.name}: ${kind}`);
};

const refreshEverywhere = async (life: Life, browser: Browser): Promise<void> => {
  await visibleTab(life, browser);
  const tabs = [...browser.tabs];
  life.story.tell(`${browser.name} refreshes in ${tabs.length} tabs`);
  for (const tab of tabs) tab.show();
  await life.story.within(`${browser.name} refreshes`, Promise.allSettled(tabs.map((tab) => tab.auth.refresh())));
};

const act = async (life: Life, person: Person, browser: Browser): Promise<void> => {
  const { chance, story } = life;
  const tab = await visibleTab(life, browser);
  if (tab.auth.user === null) return logIn(life, person, tab);
  const chosen = chance.happens(0.5) ? life.hot : chance.pick(ACTS);
  if (chosen === 'password') return changePassword(life, person, tab);
  const work = {
    ask: async () => (await tab.auth.fetch(`${BASE}/users/me`)).status,
    others: async () => tab.auth.sessions.endOthers(),
    logout: async () => tab.auth.logout(),
  }[chosen];
  const { result, error } = await story.within<unknown>(`${browser.name}: ${chosen}`, work());
  story.tell(`${browser.name}: ${chosen}: ${error?.code ?? (Number(result) || 'done')}`);
};

/** Who does not know whether a change has happened tries both, and then registers anew. */
const logIn = async (life: Life, person: Person, tab: Tab): Promise<void> => {
  const { story, chance, facts } = life;
  for (const [at, password] of person.passwords.entries()) {
    const { error } = await story.within(`${person.name} logs in`, tab.auth.login({ account: person.name, password }));
    story.tell(`${tab.browser.name} logs in: ${error?.code ?? 'done'}`);
    const isWrong = error?.code === 'AUTH_CREDENTIALS_INVALID';
    const excuse = (!person.isSure && 'in doubt') || (facts.forgotSince(person.changedAt) && 'forgotten');
    if (at === 0) story.expect('the password works', !isWrong, () => person.name, excuse);
    const others = person.passwords.filter((each) => each !== password);
    if (error === undefined) Object.assign(person, { passwords: [password, ...others], isSure: true });
    if (!isWrong) return;
    await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
  }
  await register(life, person, tab);
};

const changePassword = async ({ story, chance }: Life, person: Person, tab: Tab): Promise<void> => {
  const newPassword = `correct horse ${chance.below(1e9)}`;
  const [currentPassword = ''] = person.passwords;
  const change = tab.auth.changePassword({ currentPassword, newPassword });
  const { error } = await story.within(`${person.name} changes the password`, change);
  story.tell(`${tab.browser.name}: new password: ${error?.code ?? 'done'}`);
  const isDone = error === undefined;
  if (error?.code === 'AUTH_CREDENTIALS_INVALID') return;
  const [, ...others] = person.passwords;
  const two = isDone ? [newPassword, currentPassword] : [currentPassword, newPassword];
  const passwords = [...two, ...others].slice(0, 4);
  Object.assign(person, { passwords, isSure: isDone, changedAt: kernel.time });
};
