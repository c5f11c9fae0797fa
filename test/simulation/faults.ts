import { disableAccount, enableAccount } from '../../src/application/accounts/operate-accounts.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import type { Browser } from './browser.ts';
import type { Chance } from './chance.ts';
import type { SimulatedDatabase } from './database.ts';
import type { Facts } from './facts.ts';
import { HOUR, kernel, MINUTE, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Instance } from './service.ts';

/** What goes wrong outside of the database: how often calls fail, and replies are lost. */
export type Outside = { mail: number; replies: number; hooks: number; countsGoneUntil: number };
type Site = {
  readonly story: Story;
  readonly facts: Facts;
  readonly chance: Chance;
  readonly horizon: number;
  readonly isOver: () => boolean;
  readonly database: SimulatedDatabase;
  readonly browsers: readonly Browser[];
  readonly outside: Outside;
  readonly instances: Instance[];
  readonly open: () => Promise<Instance>;
  /** Resolves when a refresh arrives: at any moment, faults hardly ever meet one. */
  readonly atRefresh: () => Promise<void>;
};

/** Sets a member for some time. */
const during = async <Of extends object>(target: Of, changed: Partial<Of>, milliseconds: number): Promise<void> => {
  const before = { ...target };
  Object.assign(target, changed);
  await kernel.sleep(milliseconds);
  for (const name of Object.keys(changed)) Object.assign(target, { [name]: before[name as keyof Of] });
};

/** Milliseconds: twice as long is within the race window, so nobody is out by a slow line alone. */
const SLOWEST = 4_500;

const someTime = ({ chance, horizon }: Site, most: number = HOUR) =>
  chance.spread(SECOND, Math.min(most, horizon / 20));

const FAULTS = {
  latency: (site) => during(site.database.faults, { latency: site.chance.spread(5, 300) }, someTime(site)),
  statements: (site) =>
    during(site.database.faults, { failing: site.chance.spread(0.01, 0.6) }, someTime(site, 5 * MINUTE)),
  unanswered: (site) =>
    during(site.database.faults, { unanswered: site.chance.spread(0.02, 0.6) }, someTime(site, 5 * MINUTE)),
  frozen: (site) => until(site, 'frozenUntil', 50 * SECOND),
  down: (site) => until(site, 'downUntil', 50 * SECOND),
  async forget(site) {
    await site.atRefresh();
    await kernel.sleep(site.chance.spread(1, 3 * SECOND));
    const milliseconds = site.chance.spread(10, 5 * SECOND);
    site.facts.forgotten.push(kernel.time);
    const lost = site.database.forget(milliseconds);
    site.story.tell(`a fail-over forgets ${Math.round(milliseconds)} ms: ${lost.map(({ table }) => table)}`);
    for (const { table, key, after } of lost)
      if (table === 'sessions' && after === undefined) site.facts.ended.delete(JSON.parse(key)[0]);
    await until(site, 'downUntil', 20 * SECOND);
  },
  async cut(site) {
    const { line } = site.chance.pick(site.instances);
    line.cutUntil = kernel.time + site.chance.spread(SECOND, 40 * SECOND);
    await kernel.sleep(line.cutUntil - kernel.time);
  },
  async kill(site) {
    const at = site.chance.below(site.instances.length);
    await site.atRefresh();
    await kernel.sleep(site.chance.spread(0.1, 500));
    site.instances[at]?.kill();
    await kernel.sleep(site.chance.spread(SECOND, 30 * SECOND));
    site.instances[at] = await site.open();
  },
  async operator(site) {
    const user = String(site.chance.pick(site.database.rows('users'))?.id);
    const perform = (act: typeof disableAccount | typeof enableAccount) => {
      const instance = site.instances.find(({ isUp }) => isUp());
      const done = instance && act(instance.service.deps)(user, NO_ORIGIN).then(() => true);
      return Promise.race([done?.catch(() => false), kernel.sleep(MINUTE)]);
    };
    if (user === 'undefined' || (await perform(disableAccount)) !== true) return;
    site.facts.disabled.set(user, kernel.time);
    await kernel.sleep(someTime(site));
    site.facts.disabled.delete(user);
    while ((await perform(enableAccount)) !== true) await kernel.sleep(5 * SECOND);
  },
  async counts(site) {
    site.outside.countsGoneUntil = kernel.time + someTime(site);
  },
  mail: (site) =>
    during(site.outside, { mail: site.chance.spread(0.1, 1), replies: site.chance.spread(0.01, 0.3) }, someTime(site)),
  hooks: (site) => during(site.outside, { hooks: site.chance.spread(0.1, 1) }, someTime(site)),
  requests: (site) =>
    during(
      site.chance.pick(site.browsers).line,
      { lost: site.chance.spread(0.05, 0.7), delay: [20, SLOWEST] },
      someTime(site),
    ),
  answers: (site) =>
    during(site.chance.pick(site.browsers).line, { unanswered: site.chance.spread(0.05, 0.7) }, someTime(site)),
  keys: (site) => during(site.chance.pick(site.browsers), { keyFaults: site.chance.spread(0.05, 0.9) }, someTime(site)),
} as const satisfies Record<string, (site: Site) => Promise<void>>;
export type Fault = keyof typeof FAULTS;
export const ALL_FAULTS = Object.keys(FAULTS) as Fault[];

const until = ({ chance, database }: Site, name: 'frozenUntil' | 'downUntil', most: number): Promise<void> => {
  const milliseconds = chance.spread(SECOND, most);
  database.faults[name] = kernel.time + milliseconds;
  return kernel.sleep(milliseconds);
};

/** One fault after the other. @param hot the one that happens more often. */
export const trouble = async (site: Site, kinds: readonly Fault[], hot: Fault): Promise<void> => {
  const { story, facts, chance, horizon, isOver } = site;
  while (!isOver() && kinds.length > 0) {
    await kernel.sleep(chance.spread(3 * SECOND, horizon / 12));
    if (isOver()) return;
    const kind = kinds.includes(hot) && chance.happens(0.6) ? hot : chance.pick(kinds);
    story.tell(`fault: ${kind}`);
    const beat = (): void => {
      facts.lastFault = kernel.time;
      entry = kernel.after(20 * SECOND, beat);
    };
    let entry = kernel.after(0, beat);
    facts.lastFault = kernel.time;
    await FAULTS[kind](site);
    entry.call = null;
    facts.lastFault = kernel.time;
  }
};
