import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import type { SenderFor } from '../../src/application/ports/hooks.ts';
import type { Mailer } from '../../src/application/ports/mailer.ts';
import { testKeys } from '../support/keys.ts';
import { type Browser, type Internet, openBrowser, type Tab } from './browser.ts';
import { Chance } from './chance.ts';
import { simulatedDatabase } from './database.ts';
import { type Belief, beliefOf, numberIn, openFacts, sessionOf, tokenIn } from './facts.ts';
import { ALL_FAULTS, type Fault, type Outside, trouble } from './faults.ts';
import { DAY, HOUR, kernel, MINUTE, SECOND, START } from './kernel.ts';
import { ACTS, live, type Person } from './people.ts';
import { realWaits } from './process.ts';
import { openStory, type Story } from './rules.ts';
import { type Asked, type Instance, openInstance } from './service.ts';
import { steal } from './thief.ts';

export type Options = {
  readonly days?: number | undefined;
  readonly people?: number | undefined;
  readonly faults?: readonly Fault[] | undefined;
  readonly trace?: ((line: string) => void) | undefined;
};
export type Result = Awaited<ReturnType<typeof runWorld>>;

const WEBHOOK = {
  ...{
    id: 'receiver',
    url: 'https://hooks.example.com/',
    types: null,
    keyNumber: 1,
    publicKey: 'whpk_x',
    hasSecret: false,
  },
  ...{ createdAt: START, rotatedAt: null, disabledAt: null },
};

/** What one world is like: each does one thing, and meets one fault, more often than the others. */
const profileOf = (chance: Chance) => ({
  instances: 1 + chance.below(3),
  people: 2 + chance.below(3),
  browsers: 1 + chance.below(2),
  days: chance.pick([0.1, 0.2, 0.4]),
  binding: chance.happens(0.5),
  replays: chance.happens(0.5),
  thief: chance.happens(0.5),
  hot: chance.pick(ACTS),
  hotFault: chance.pick(ALL_FAULTS),
});

export const runWorld = async (seed: number, { faults = ALL_FAULTS, trace, ...given }: Options = {}) => {
  kernel.begin(seed);
  realWaits.clear();
  const chance = new Chance(seed);
  const profile = { ...profileOf(chance.fork()), ...JSON.parse(JSON.stringify(given)) } as ReturnType<typeof profileOf>;
  const story = openStory(trace);
  story.remark(JSON.stringify(profile));
  const horizon = profile.days * DAY;
  const database = simulatedDatabase(chance.fork());
  const facts = openFacts(database, story, profile);
  const outside: Outside = { mail: 0, replies: 0, hooks: 0, countsGoneUntil: 0 };
  const keys = testKeys();
  const around = {
    ...{ database, chance },
    settings: {
      DEVICE_BINDING: profile.binding ? 'enforce' : 'off',
      JWT_REFRESH_REPLAY_WINDOW: profile.replays ? '10s' : '0',
    },
    counts: countsOf(outside),
    mailerOf: mailServer(chance.fork(), story, facts, outside),
    senderFor: receiver(chance.fork(), story, facts, outside),
    log: (line: string) =>
      story.expect('no error is unexpected', !/"level":"fatal"|"code":"SYS_(UNEXP|SERI)/.test(line), () => line),
  };
  const open = () => openInstance(around, keys);
  const state = { isOver: false, requests: 0 };
  const isOver = () => state.isOver;
  const instances: Instance[] = [];
  const net = chance.fork();
  const stage = async (): Promise<void> => {
    while (instances.length < profile.instances) instances.push(await open());
    await instances[0]?.service.ports.webhooks.add(WEBHOOK);
  };
  void stage();
  await kernel.run(kernel.time + SECOND);
  if (instances.length < profile.instances) throw new Error('the instances have not started');

  const waiters: (() => void)[] = [];
  const send = (asked: Asked, what: string) => {
    state.requests += 1;
    const up = instances.filter(({ isUp }) => isUp());
    const instance = up.length > 0 ? net.pick(up) : undefined;
    if (asked.path === '/auth/refresh-token' && what !== 'thief') for (const each of waiters.splice(0)) each();
    if (instance === undefined) return { answer: kernel.sleep(5).then(() => null), hangUp: () => undefined, instance };
    const { answer, hangUp } = instance.request(asked);
    let isAnswered = false;
    kernel.after(45 * SECOND, () =>
      story.expect(
        'nothing waits for ever',
        isAnswered || !instance.isUp(),
        () => `${what}: ${asked.method} ${asked.path}`,
      ),
    );
    const seen = answer.then((value) => {
      isAnswered = true;
      return instance.isUp() ? value : null;
    });
    return { answer: seen, hangUp, instance };
  };
  const beliefs = new Map<Browser, Belief>();
  const sessionsOf = new Map<Tab, string | undefined>();
  const refreshes = new Map<string, number[]>();
  const onNobody = (browser: Browser, how: string): void => {
    const belief = beliefs.get(browser);
    beliefs.delete(browser);
    if (belief) facts.judgeLogOut(browser, belief, how);
  };
  const internet: Internet = {
    ask(visit) {
      const arrivedAt = kernel.time;
      const { answer, hangUp, instance } = send(visit, visit.browser.name);
      const judged = answer.then((value) => {
        if (value === null) return value;
        if (visit.path === '/auth/refresh-token')
          story.remark(
            `${visit.browser.name}: token ${numberIn(visit.sentCookie)} -> ${numberIn(tokenIn(value)) ?? value.status}, sent ${Math.round(kernel.time - arrivedAt)} ms before`,
          );
        facts.judgeAnswer(visit, value, arrivedAt);
        const problems = instance?.problemsOf(visit, value) ?? [];
        const text = () => `${visit.method} ${visit.path} ${value.status}: ${problems}`;
        story.expect('each answer is as the OpenAPI document says', problems.length === 0, text);
        return value;
      });
      return { answer: judged, hangUp };
    },
    lost(visit) {
      story.tell(`${visit.browser.name}: no answer of ${visit.path}`);
      facts.unanswered.add(sessionOf(visit.sentCookie));
    },
    answered({ browser, path, sentCookie }, answer) {
      const id = sessionOf(sentCookie);
      if (path === '/auth/refresh-token' && sentCookie && [200, 401].includes(answer.status))
        refreshes.set(id, [...(refreshes.get(id) ?? []), kernel.time]);
      const token = tokenIn(answer);
      if (token !== undefined) beliefs.set(browser, beliefOf(token));
      else if (answer.cookies.some((text) => text.startsWith('refresh_token=;'))) beliefs.delete(browser);
    },
    changed(tab, user, why) {
      story.tell(`${tab.browser.name}: a tab has ${user} (${why})`);
      // Another tab may have opened another session since.
      const isSame = sessionsOf.get(tab) === beliefs.get(tab.browser)?.id;
      if (why === 'ended' && isSame) onNobody(tab.browser, 'a tab says that the session has ended');
      if (user !== null) sessionsOf.set(tab, beliefs.get(tab.browser)?.id);
    },
  };

  const people = peopleOf(profile, chance, internet);
  const browsers = people.flatMap((person) => person.browsers);
  const common = { story, facts, horizon, isOver, browsers, internet, database, outside, instances, open };
  const failed = (error: Error) => story.expect('no error is unexpected', false, () => String(error.stack));
  for (const person of people)
    live({ ...common, chance: chance.fork(), hot: profile.hot, onNobody }, person).catch(failed);
  const atRefresh = () =>
    Promise.race([new Promise<void>((resolve) => waiters.push(resolve)), kernel.sleep(20 * MINUTE)]);
  trouble({ ...common, chance: chance.fork(), atRefresh }, faults, profile.hotFault).catch(failed);
  const ask = (asked: Asked) => send(asked, 'thief').answer;
  const hunt = { ...common, chance: chance.fork(), ask, refreshesOf: (id: string) => refreshes.get(id) ?? [] };
  if (profile.thief) steal(hunt).catch(failed);
  process.on('unhandledRejection', failed);
  await kernel.run(kernel.time + horizon);

  state.isOver = true;
  Object.assign(database.faults, { latency: 2, failing: 0, unanswered: 0, frozenUntil: 0, downUntil: 0 });
  Object.assign(outside, { mail: 0, replies: 0, hooks: 0, countsGoneUntil: 0 });
  for (const { line } of instances) line.cutUntil = 0;
  for (const browser of browsers) {
    browser.repair();
    browser.wake();
    for (const tab of browser.tabs) tab.show();
  }
  story.tell('all is well again');
  await kernel.run(kernel.time + 20 * MINUTE);
  for (const browser of browsers) {
    const users = new Set([...browser.tabs].map((tab) => tab.auth.user?.username));
    story.expect('tabs agree', users.size <= 1, () => `${browser.name}: ${[...users]}`);
    for (const tab of browser.tabs) tab.hide();
  }
  const late = () => database.rows('deliveries').filter(({ isWaiting }) => isWaiting);
  // Retries take hours.
  for (let hours = 0; hours < 12 && database.rows('outbox').length + late().length > 0; hours += 1)
    await kernel.run(kernel.time + HOUR);
  story.expect('no mail is lost', database.rows('outbox').length === 0, () => `${database.rows('outbox').length} wait`);
  story.expect('webhooks come at least once', late().length === 0, () => `${late().length} wait`);
  const old = database.rows('sessions').filter(({ expiresAt }) => Number(expiresAt) < kernel.time - 25 * MINUTE);
  story.expect('what has expired is purged', old.length === 0, () => `${old.length} sessions`);
  story.expect('no transaction stays open', database.openTransactions() === 0, () => '');
  story.expect('the kernel owns every wait', realWaits.size === 0, () => [...realWaits].join('\n'));
  for (const instance of instances) instance.kill();
  process.off('unhandledRejection', failed);
  const { violations, looks } = story;
  return {
    seed,
    hash: kernel.hash(),
    violations,
    looks,
    events: kernel.events,
    ...profile,
    requests: state.requests,
  };
};

const peopleOf = (profile: ReturnType<typeof profileOf>, chance: Chance, internet: Internet): Person[] =>
  ['ada', 'bob', 'cyd', 'dan', 'eve'].slice(0, profile.people).map((name, number) => ({
    ...{ name, email: `${name}@example.org`, passwords: [`correct horse ${name}`], isSure: true, changedAt: 0 },
    browsers: Array.from({ length: profile.browsers }, (_, at) =>
      openBrowser(internet, chance.fork(), {
        name: `${name}${at + 1}`,
        address: `10.${number}.${at}.7`,
        userAgent: `Mozilla/5.0 (X11; Linux x86_64) Browser${at}/1.0`,
        skew: chance.pick([0, 0, 0, -5 * MINUTE, 7 * MINUTE, -3 * DAY]),
        hasKeys: chance.happens(0.85),
      }),
    ),
  }));

const countsOf = (outside: Outside) => {
  const counts = memoryCounts();
  const call = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (kernel.time < outside.countsGoneUntil) throw new Error('the counts are away');
    return work();
  };
  return {
    countRequest: (...given: Parameters<typeof counts.countRequest>) => call(() => counts.countRequest(...given)),
    replace: (...given: Parameters<typeof counts.replace>) => call(() => counts.replace(...given)),
  };
};

const mailServer = (chance: Chance, story: Story, facts: ReturnType<typeof openFacts>, outside: Outside) => {
  const times = new Map<string, number>();
  return (isDead: () => boolean): Mailer => ({
    async send({ id, to, subject }) {
      await kernel.sleep(chance.between(20, 800));
      if (isDead()) return new Promise(() => undefined);
      if (chance.happens(outside.mail)) throw new Error('the mail server is away');
      const count = (times.get(id) ?? 0) + 1;
      times.set(id, count);
      story.tell(`mail to ${to}: ${subject}`);
      story.expect('a mail goes out once', count === 1, () => subject, !facts.isCalm(10 * MINUTE) && 'a fault');
      if (/password.* was changed/i.test(subject))
        story.expect(
          'a mail reports what has happened',
          !(kernel.time - (facts.takenBack.get(to) ?? 0) < 10 * MINUTE),
          () => `${subject} to ${to}, whose password was taken back`,
        );
      if (chance.happens(outside.replies)) throw new Error('the reply of the mail server was lost');
      return 'sent';
    },
  });
};

const receiver = (chance: Chance, story: Story, facts: ReturnType<typeof openFacts>, outside: Outside): SenderFor => {
  const seen = new Map<string, number>();
  return async () => async (message) => {
    await kernel.sleep(chance.between(5, 3_000));
    if (chance.happens(outside.hooks)) throw new Error('no answer');
    const { sequence, data } = message as unknown as { sequence: number; data: { userId: string } };
    const last = seen.get(data.userId) ?? 0;
    story.expect(
      'webhooks come in order',
      sequence <= last + 1,
      () => `${sequence} after ${last}`,
      facts.forgotten.length > 0 && 'forgotten',
    );
    seen.set(data.userId, Math.max(last, sequence));
    return { status: 204, retryAfter: 0 };
  };
};
