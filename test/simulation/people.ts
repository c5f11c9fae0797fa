import type { Browser, Tab } from './browser.ts';
import { DAY, kernel, MINUTE, SECOND } from './kernel.ts';
import { BASE } from './service.ts';
import { openTab } from './tab.ts';
import { lettersTo, visit } from './visitor.ts';
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

const register = async ({ story }: World, person: Person, tab: Tab): Promise<boolean> => {
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

const newTab = async ({ internet, story, onNobody }: World, browser: Browser): Promise<Tab> => {
  const tab = openTab(browser, internet);
  const hadSession = Object.values(browser.storage).some((generation) => Number(generation) > 0);
  const { result } = await story.within(`${browser.name} opens a tab`, tab.auth.ready);
  if (result === null && hadSession && !tab.isClosed()) onNobody(browser, 'a new tab has nobody');
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
const disturb = async (world: World, browser: Browser): Promise<void> => {
  const { chance, story, horizon } = world;
  const tabs = [...browser.tabs];
  const some = () => tabs.filter(() => chance.happens(0.5));
  const kind = chance.pick(['open', 'open', 'close', 'hide', 'show', 'freeze', 'sleep', 'offline'] as const);
  if (kind === 'open' && tabs.length < 5) {
    browser.wake();
    await newTab(world, browser);
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

const refreshEverywhere = async (world: World, browser: Browser): Promise<void> => {
  await visibleTab(world, browser);
  const tabs = [...browser.tabs];
  world.story.tell(`${browser.name} refreshes in ${tabs.length} tabs`);
  for (const tab of tabs) tab.show();
  await world.story.within(`${browser.name} refreshes`, Promise.allSettled(tabs.map((tab) => tab.auth.refresh())));
};

const act = async (world: World, person: Person, browser: Browser): Promise<void> => {
  const { chance, story } = world;
  const tab = await visibleTab(world, browser);
  const chosen = chance.happens(0.5) ? world.hot : chance.pick(ACTS);
  const letters = lettersTo(world, person);
  if (chosen === 'visit' || chosen === 'mail')
    return visit(world, person, browser, chosen === 'mail' && letters.length > 0 ? chance.pick(letters) : undefined);
  if (tab.auth.user === null) return logIn(world, person, tab);
  if (chosen === 'password') return changePassword(world, person, tab);
  const work = {
    ask: async () => (await tab.auth.fetch(`${BASE}/users/me`)).status,
    others: async () => tab.auth.sessions.endOthers(),
    logout: async () => tab.auth.logout(),
  }[chosen];
  const { result, error } = await story.within<unknown>(`${browser.name}: ${chosen}`, work());
  story.tell(`${browser.name}: ${chosen}: ${error?.code ?? (Number(result) || 'done')}`);
};

/** Who does not know whether a change has happened tries both, and then registers anew. */
const logIn = async (world: World, person: Person, tab: Tab): Promise<void> => {
  const { story, chance, facts } = world;
  for (const [at, password] of person.passwords.entries()) {
    const { error } = await story.within(`${person.name} logs in`, tab.auth.login({ account: person.name, password }));
    story.tell(`${tab.browser.name} logs in: ${error?.code ?? 'done'}`);
    const isWrong = error?.code === 'AUTH_CREDENTIALS_INVALID';
    const excuse =
      (!person.isSure && 'in doubt') ||
      (facts.forgotSince(person.changedAt) && 'forgotten') ||
      ((facts.passwords.get(person.name) ?? 0) > person.changedAt && 'changed since');
    if (at === 0) story.expect('the password works', !isWrong, () => person.name, excuse);
    const others = person.passwords.filter((each) => each !== password);
    if (error === undefined) Object.assign(person, { passwords: [password, ...others], isSure: true });
    if (!isWrong) return;
    await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
  }
  if ((await register(world, person, tab)) && chance.happens(0.7)) await visit(world, person, tab.browser);
};

const changePassword = async ({ story, chance }: World, person: Person, tab: Tab): Promise<void> => {
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
