import { generateKeyPairSync } from 'node:crypto';
import type { Authenticator } from '../support/authenticator.ts';
import { testKeys } from '../support/keys.ts';
import { type Browser, openBrowser } from './browser.ts';
import { judgeCommits } from './commits.ts';
import { simulatedDatabase } from './database.ts';
import { openFacts } from './facts.ts';
import { type Internet, openInternet } from './internet.ts';
import { type Chance, DAY, MINUTE } from './kernel.ts';
import { ALL_WELL, countsOf, mailServer, provider, receiver } from './outside.ts';
import { openStory } from './rules.ts';
import { APP_LINK, type Instance, openInstance } from './service.ts';

export type Person = {
  readonly name: string;
  readonly browsers: readonly Browser[];
  /** The one that counts first; others may, after a change whose outcome is not known, or was forgotten. Empty: there is none. */
  passwords: readonly string[];
  /** Since when the first password counts. `Infinity`: the outcome of a change is not known. */
  sureSince: number;
  readonly secrets: string[];
  readonly keys: Authenticator[];
  recoveryCodes: string[];
};
export const ACTS = ['ask', 'password', 'others', 'logout', 'visit', 'mail', 'adoption', 'passkey'] as const;
type Act = (typeof ACTS)[number];

/** What one world is like: each does one thing, and meets one fault, more often than the others. Seeds that follow each other have all of them. */
export type Profile = ReturnType<typeof profileOf>;
export const profileOf = (seed: number, chance: Chance) => ({
  ...{ instances: 1 + chance.below(3), people: 2 + chance.below(3), browsers: 1 + chance.below(2) },
  ...{ days: chance.pick([0.1, 0.2, 0.4]), binding: chance.happens(0.5), replays: chance.happens(0.5) },
  ...{ thief: chance.happens(0.5), hot: ACTS[seed % ACTS.length] as Act, hotFault: seed },
  ...{ lifetime: chance.pick(['7d', '7d', '1h']), bindsTokens: chance.happens(0.7) },
  ...{ newDeviceCode: chance.pick(['off', 'on', 'while-mail-works']), needsPasswords: chance.happens(0.5) },
});

export type World = ReturnType<typeof openWorld>;

export const openWorld = (chance: Chance, profile: Profile, trace?: (line: string) => void) => {
  const story = openStory(trace);
  story.tell(JSON.stringify(profile));
  const database = simulatedDatabase(chance.fork());
  const facts = openFacts(database, story);
  judgeCommits(database, story, facts);
  const outside = { ...ALL_WELL };
  const instances: Instance[] = [];
  const here = () => ({ chance: chance.fork(), story, facts, outside, instances, replays: profile.replays });
  const formerSystem = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const around = {
    ...{ database, counts: countsOf(outside), mailerOf: mailServer(here()), senderFor: receiver(here()) },
    config: { keys: testKeys() },
    providers: new Map([['acme', provider(here())]]),
    settings: {
      JWT_ACCESS_EXPIRES_IN: '15m',
      APP_LINKS: APP_LINK,
      LOGIN_BY_CODE: 'on',
      DEVICE_BINDING: profile.binding ? 'enforce' : 'off',
      JWT_BINDING: profile.binding && profile.bindsTokens ? 'on' : 'off',
      NEW_DEVICE_CODE: profile.newDeviceCode,
      PASSWORDS: profile.needsPasswords ? 'required' : 'optional',
      JWT_REFRESH_EXPIRES_IN: profile.lifetime,
      JWT_REFRESH_REPLAY_WINDOW: profile.replays ? '10s' : '0',
      ADOPTION_PUBLIC_KEY: String(formerSystem.publicKey.export({ type: 'spki', format: 'pem' })),
    },
    log: (line: string) =>
      story.expect('no error is unexpected', !/"level":"fatal"|"code":"SYS_(UNEXP|SERI)/.test(line), () => line),
  };
  const internet = openInternet(here());
  const people = peopleOf(profile, chance, internet);
  const state = { isOver: false };
  return {
    ...{ ...profile, chance, story, database, facts, outside, around, instances, internet, people, state },
    ...{ ask: internet.ask, isOver: () => state.isOver, open: () => openInstance(around) },
    ...{ formerSystem, horizon: profile.days * DAY, browsers: people.flatMap((person) => person.browsers) },
  };
};

const peopleOf = (profile: Profile, chance: Chance, internet: Internet): Person[] =>
  ['ada', 'bob', 'cyd', 'dan', 'eve'].slice(0, profile.people).map((name, number) => ({
    ...{ name, sureSince: 0, secrets: [], keys: [], recoveryCodes: [] },
    passwords: [profile.needsPasswords || number % 2 > 0 ? `correct horse ${name}` : ''],
    browsers: Array.from({ length: profile.browsers }, (_, at) =>
      openBrowser(internet, chance.fork(), {
        ...{ name: `${name}${at + 1}`, address: `10.${number}.${at}.7` },
        skew: chance.pick([0, 0, 0, -5 * MINUTE, 7 * MINUTE, -3 * DAY]),
        hasKeys: chance.happens(0.85),
      }),
    ),
  }));
