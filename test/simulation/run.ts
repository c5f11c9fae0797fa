import { NO_FAULTS } from './database.ts';
import { type Fault, trouble } from './faults.ts';
import { Chance, HOUR, kernel, MINUTE, SECOND, START } from './kernel.ts';
import { watchEnded } from './operators.ts';
import { ALL_WELL } from './outside.ts';
import { live } from './people.ts';
import { keeping, keptByModules, realWaits } from './process.ts';
import { json } from './service.ts';
import { steal } from './thief.ts';
import { openWorld, profileOf, type World } from './world.ts';

export type Options = {
  readonly faults: readonly Fault[];
  readonly days?: number | undefined;
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
  void story.within('the start', stage(), SECOND);
  await kernel.run(kernel.time + SECOND);
};

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
    const sent = json({ account, password: passwords[0] });
    const logIn = async (): Promise<void> => {
      const answer = await ask({ method: 'POST', path: '/auth/login', address: '10.8.8.8', ...sent });
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

/** By how many entries maps and sets may have grown when all is quiet, by the files of src that make them; none in others. */
const BOUNDS: { readonly [file: string]: number } = {
  'adapters/crypto/token-signer.ts': 5_000,
  'adapters/limits/counts.ts': 200_000,
  'adapters/http/request/client.ts': 1_000,
  'application/login/refused-login-counter.ts': 5_000,
  // Kinds of lines, methods, routes, webhooks.
  'adapters/http/logging/log-sampling.ts': 20,
  'adapters/http/stages/arrival.ts': 4,
  'adapters/http/stages/dispatch.ts': 200,
  'application/webhooks/deliver-webhooks.ts': 1,
};

/** What has to hold in the end. */
const judge = async ({ database, instances, browsers, story }: World): Promise<void> => {
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
  for (const { file, growth } of [...keptByModules, ...instances.flatMap(({ kept }) => kept)])
    story.expect('every map has a bound', growth() <= (BOUNDS[file] ?? 0), () => `${growth()} more in ${file}`);
  story.expect('the kernel owns every wait', realWaits.size === 0, () => [...realWaits].join('\n'));
};

export const runWorld = async (seed: number, { faults, days, trace }: Options) => {
  await kernel.begin(seed);
  realWaits.clear();
  keeping.now = null;
  const chance = new Chance(seed);
  const drawn = profileOf(seed, chance.fork());
  const profile = { ...drawn, days: days ?? drawn.days };
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
  const { requests } = internet;
  return { hash: kernel.hash(), violation, judged, days: profile.days, events: kernel.events, requests };
};
