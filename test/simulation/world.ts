import type { Authenticator } from '../support/authenticator.ts';
import { testKeys } from '../support/keys.ts';
import { judgeAsked } from './answers.ts';
import { type Browser, type Internet, openBrowser } from './browser.ts';
import type { Chance } from './chance.ts';
import { judgeCommits } from './commits.ts';
import { simulatedDatabase } from './database.ts';
import { openFacts } from './facts.ts';
import { openInternet } from './internet.ts';
import { DAY, MINUTE } from './kernel.ts';
import { ALL_WELL, countsOf, mailServer, provider, receiver } from './outside.ts';
import { openStory } from './rules.ts';
import { type Instance, openInstance } from './service.ts';

export type Person = {
  readonly name: string;
  readonly email: string;
  readonly browsers: readonly Browser[];
  /** The one that counts first; others may, after a change whose outcome is not known, or was forgotten. */
  passwords: readonly string[];
  isSure: boolean;
  readonly secrets: string[];
  readonly keys: Authenticator[];
  recoveryCodes: string[];
  /** When the account or its password was changed last. */
  changedAt: number;
};
export const ACTS = ['ask', 'password', 'others', 'logout', 'visit', 'mail'] as const;

/** What one world is like: each does one thing, and meets one fault, more often than the others. */
export type Profile = ReturnType<typeof profileOf>;
export const profileOf = (chance: Chance) => ({
  ...{ instances: 1 + chance.below(3), people: 2 + chance.below(3), browsers: 1 + chance.below(2) },
  ...{ days: chance.pick([0.1, 0.2, 0.4]), binding: chance.happens(0.5), replays: chance.happens(0.5) },
  ...{ thief: chance.happens(0.5), hot: chance.pick(ACTS), hotFault: chance.next() },
  lifetime: chance.pick(['7d', '7d', '1h']),
  mostViolations: 5,
});

export type World = ReturnType<typeof openWorld>;

export const openWorld = (chance: Chance, profile: Profile, trace?: (line: string) => void) => {
  const story = openStory(trace, profile.mostViolations);
  story.remark(JSON.stringify(profile));
  const database = simulatedDatabase(chance.fork());
  const facts = openFacts(database, story, profile);
  judgeCommits(database, story, facts);
  const outside = { ...ALL_WELL };
  const here = () => ({ chance: chance.fork(), story, facts, outside });
  const around = {
    ...{ database, counts: countsOf(outside), mailerOf: mailServer(here()), senderFor: receiver(here()) },
    config: { keys: testKeys() },
    providers: new Map([['acme', provider(here())]]),
    settings: {
      JWT_ACCESS_EXPIRES_IN: '15m',
      LOGIN_BY_CODE: 'on',
      DEVICE_BINDING: profile.binding ? 'enforce' : 'off',
      JWT_REFRESH_EXPIRES_IN: profile.lifetime,
      JWT_REFRESH_REPLAY_WINDOW: profile.replays ? '10s' : '0',
    },
    log: (line: string) =>
      story.expect('no error is unexpected', !/"level":"fatal"|"code":"SYS_(UNEXP|SERI)/.test(line), () => line),
  };
  const instances: Instance[] = [];
  const net = openInternet({ ...here(), instances, judge: judgeAsked(database, story, facts) });
  const people = peopleOf(profile, chance, net.internet);
  const state = { isOver: false };
  return {
    ...{ ...net, ...profile, chance, story, database, facts, outside, around, instances, people, state },
    open: () => openInstance(around),
    horizon: profile.days * DAY,
    browsers: people.flatMap((person) => person.browsers),
    isOver: () => state.isOver,
  };
};

const peopleOf = (profile: Profile, chance: Chance, internet: Internet): Person[] =>
  ['ada', 'bob', 'cyd', 'dan', 'eve'].slice(0, profile.people).map((name, number) => ({
    ...{ name, email: `${name}@example.org`, passwords: [`correct horse ${name}`], isSure: true, changedAt: 0 },
    ...{ secrets: [], keys: [], recoveryCodes: [] },
    browsers: Array.from({ length: profile.browsers }, (_, at) =>
      openBrowser(internet, chance.fork(), {
        ...{ name: `${name}${at + 1}`, address: `10.${number}.${at}.7` },
        userAgent: `Mozilla/5.0 (X11; Linux x86_64) Browser${at}/1.0`,
        skew: chance.pick([0, 0, 0, -5 * MINUTE, 7 * MINUTE, -3 * DAY]),
        hasKeys: chance.happens(0.85),
      }),
    ),
  }));
