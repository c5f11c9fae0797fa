import { aWebhook } from '../support/builders.ts';
import './commits.ts';
import { database, NO_FAULTS } from './database.ts';
import { causeFaults, type Fault } from './faults.ts';
import { askForLogIn, internet } from './internet.ts';
import { expect, HOUR, kernel, MINUTE, SECOND, START, story, trace, within } from './kernel.ts';
import { disableAll } from './operators.ts';
import { runPerson } from './people.ts';
import { keptByModules, observed } from './process.ts';
import { instances, NO_FAILURES, openInstance, otherServers } from './service.ts';
import { runThief } from './thief.ts';
import { allBrowsers, type Person, passwordOf, people } from './visitor.ts';
import { horizon, world } from './world.ts';

/** Runs one world, from its beginning to the judgement at its end. */

/** `days` is the length of the world, or 0 if the seed decides it. */
export type Options = { readonly faults: readonly Fault[]; readonly days: number; readonly write?: typeof story.write };
export type Result = Awaited<ReturnType<typeof runWorld>>;

const start = async (): Promise<void> => {
  while (instances.length < world.instances) instances.push(await openInstance());
  await instances[0]?.service.ports.records.insert('webhooks', aWebhook({ id: 'receiver', createdAt: START }));
};

/** Ends all faults, and judges that everybody can log in within a minute. */
const repair = async (): Promise<void> => {
  world.isOver = true;
  Object.assign(database.faults, NO_FAULTS);
  Object.assign(otherServers, NO_FAILURES);
  for (const { line } of instances) line.isCut = false;
  for (const browser of allBrowsers()) browser.repair();
  trace('all is well again');
  let answered = 0;
  const logIn = async (person: Person): Promise<void> => {
    const answer = await askForLogIn('10.8.8.8', person.name, passwordOf(person));
    if (answer && answer.status < 500) answered += 1;
    // Tried again, since the instance may be starting.
    else kernel.after(5 * SECOND, () => void logIn(person));
  };
  for (const person of people) void logIn(person);
  await kernel.run(MINUTE);
  expect('after all faults the world is well within a minute', answered === people.length, () => `${answered} log-ins`);
  await kernel.run(20 * MINUTE);
};

/** By how many entries a map or set may have grown at the end of a world, by the file of src that makes it. In other files, none may have grown. */
const BOUNDS: { readonly [file: string]: number } = {
  'adapters/crypto/jws.ts': 5_000,
  'adapters/limits/counts.ts': 200_000,
  'adapters/http/request/client.ts': 1_000,
  'application/login/refused-login-counter.ts': 5_000,
  // Their keys are kinds of lines, methods, routes, and webhooks.
  'adapters/http/logging/log-sampling.ts': 20,
  'adapters/http/stages/arrival.ts': 4,
  'adapters/http/stages/dispatch.ts': 200,
  'application/webhooks/deliver-webhooks.ts': 1,
};

/** Judges the rules that have to hold at the end of a world. */
const judgeEnd = async (): Promise<void> => {
  for (const { name, tabs } of allBrowsers()) {
    const users = new Set([...tabs].map((tab) => tab.auth.user?.username));
    expect('tabs agree', users.size <= 1, () => `${name}: ${[...users]}`);
    for (const tab of tabs) tab.hide();
  }
  const mails = () => database.rows('outbox').length;
  const hooks = () => database.rows('deliveries').filter(({ isWaiting }) => isWaiting).length;
  // Mails and events that have failed often are tried again only hours later.
  for (let hours = 0; hours < 12 && mails() + hooks() > 0; hours += 1) await kernel.run(HOUR);
  expect('no mail is lost', mails() === 0, () => `${mails()} wait`);
  expect('webhooks come at least once', hooks() === 0, () => `${hooks()} wait`);
  const old = database.rows('sessions').filter(({ expiresAt }) => Number(expiresAt) < kernel.time - 25 * MINUTE);
  expect('what has expired is purged', old.length === 0, () => `${old.length} sessions`);
  expect('no transaction stays open', database.oldTransactions() === 0);
  for (const { file, growth } of [...keptByModules, ...instances.flatMap(({ kept }) => kept)])
    expect('every map has a bound', growth() <= (BOUNDS[file] ?? 0), () => `${growth()} more in ${file}`);
  void disableAll();
  await kernel.run(MINUTE);
  expect('the kernel owns every wait', observed.waits.size === 0, () => [...observed.waits].join('\n'));
};

export const runWorld = async (seed: number, { faults, days, write }: Options) => {
  const failed = (error: Error) => expect('no error is unexpected', false, () => String(error.stack));
  process.on('unhandledRejection', failed);
  const chance = await kernel.begin(seed);
  Object.assign(story, { write });
  if (days) world.days = days;
  trace(JSON.stringify(world));
  void within('the start', start(), SECOND);
  await kernel.run(SECOND);
  for (const person of people) void runPerson(person);
  void causeFaults(chance.fork(), faults);
  if (world.thief) void runThief(chance.fork());
  for (const next of [() => kernel.run(horizon()), repair, judgeEnd]) if (!kernel.isStopped) await next();
  for (const instance of instances) instance.kill();
  process.off('unhandledRejection', failed);
  const [{ violation, judged }, { requests }, { events }] = [story, internet, kernel];
  return { hash: story.hash.toString(16).padStart(8, '0'), violation, judged, days: world.days, events, requests };
};
