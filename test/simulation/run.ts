import { Chance } from './chance.ts';
import { NO_FAULTS } from './database.ts';
import { ALL_FAULTS, type Fault, trouble } from './faults.ts';
import { HOUR, kernel, MINUTE, SECOND, START } from './kernel.ts';
import { watchEnded } from './operators.ts';
import { ALL_WELL } from './outside.ts';
import { live } from './people.ts';
import { realWaits } from './process.ts';
import { steal } from './thief.ts';
import { openWorld, type Profile, profileOf, type World } from './world.ts';

export type Options = {
  readonly days?: number | undefined;
  readonly faults?: readonly Fault[] | undefined;
  readonly trace?: ((line: string) => void) | undefined;
};
export type Result = Awaited<ReturnType<typeof runWorld>>;

const WEBHOOK = {
  ...{ id: 'receiver', url: 'https://hooks.example.com/', types: null, keyNumber: 1, publicKey: 'whpk_x' },
  ...{ hasSecret: false, createdAt: START, rotatedAt: null, disabledAt: null },
};
const start = async ({ instances, open, story }: World, count: number): Promise<void> => {
  const stage = async (): Promise<void> => {
    while (instances.length < count) instances.push(await open());
    await instances[0]?.service.ports.records.insert('webhooks', WEBHOOK);
  };
  void stage();
  await kernel.run(kernel.time + SECOND);
  story.expect('nothing waits for ever', instances.length === count, () => 'the instances have not started');
};

const LOG_IN = { method: 'POST', path: '/auth/login', headers: { 'content-type': 'application/json' } };
/** All faults end. */
const repair = async ({ state, database, outside, instances, browsers, people, ask, story }: World): Promise<void> => {
  state.isOver = true;
  Object.assign(database.faults, NO_FAULTS);
  Object.assign(outside, ALL_WELL);
  for (const { line } of instances) line.isCut = false;
  for (const browser of browsers) {
    browser.repair();
    browser.wake();
    for (const tab of browser.tabs) tab.show();
  }
  story.tell('all is well again');
  let answered = 0;
  for (const { name: account, passwords } of people) {
    const asked = { ...LOG_IN, address: '10.8.8.8', body: JSON.stringify({ account, password: passwords[0] }) };
    const logIn = async (): Promise<void> => {
      const answer = await ask(asked);
      if (answer && answer.status < 500) answered += 1;
      // An instance may be starting.
      else kernel.after(5 * SECOND, logIn);
    };
    void logIn();
  }
  await kernel.run(kernel.time + MINUTE);
  const text = () => `${answered} of ${people.length} log-ins`;
  story.expect('after all faults the world is well within a minute', answered === people.length, text);
  await kernel.run(kernel.time + 20 * MINUTE);
};

/** What has to hold in the end. */
const judge = async ({ database, browsers, story }: World): Promise<void> => {
  for (const browser of browsers) {
    const users = new Set([...browser.tabs].map((tab) => tab.auth.user?.username));
    story.expect('tabs agree', users.size <= 1, () => `${browser.name}: ${[...users]}`);
    for (const tab of browser.tabs) tab.hide();
  }
  const mails = () => database.rows('outbox').length;
  const hooks = () => database.rows('deliveries').filter(({ isWaiting }) => isWaiting).length;
  // Retries take hours.
  for (let hours = 0; hours < 12 && mails() + hooks() > 0; hours += 1) await kernel.run(kernel.time + HOUR);
  story.expect('no mail is lost', mails() === 0, () => `${mails()} wait`);
  story.expect('webhooks come at least once', hooks() === 0, () => `${hooks()} wait`);
  const old = database.rows('sessions').filter(({ expiresAt }) => Number(expiresAt) < kernel.time - 25 * MINUTE);
  story.expect('what has expired is purged', old.length === 0, () => `${old.length} sessions`);
  story.expect('no transaction stays open', database.openTransactions() === 0, () => '');
  story.expect('the kernel owns every wait', realWaits.size === 0, () => [...realWaits].join('\n'));
};

export const runWorld = async (seed: number, { faults = ALL_FAULTS, trace, ...given }: Options = {}) => {
  kernel.begin(seed);
  realWaits.clear();
  const chance = new Chance(seed);
  const profile = { ...profileOf(seed, chance.fork()), ...JSON.parse(JSON.stringify(given)) } as Profile;
  const world = openWorld(chance, profile, trace);
  const { story, internet } = world;
  const failed = (error: Error) => story.expect('no error is unexpected', false, () => String(error.stack));
  process.on('unhandledRejection', failed);
  await start(world, profile.instances);
  const own = () => ({ ...world, chance: chance.fork() });
  for (const person of world.people) void live(own(), person);
  void trouble(own(), faults);
  watchEnded(world);
  if (profile.thief) void steal(own());
  await kernel.run(kernel.time + world.horizon);
  if (!kernel.isStopped) await repair(world);
  if (!kernel.isStopped) await judge(world);
  for (const instance of world.instances) instance.kill();
  process.off('unhandledRejection', failed);
  const { violation, judged } = story;
  const { days } = profile;
  return { hash: kernel.hash(), violation, judged, days, events: kernel.events, requests: internet.requests };
};
