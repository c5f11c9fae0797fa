import { kernel, MINUTE, SECOND, START } from './kernel.ts';

/** What has to hold, and where the sentence stands. */
export const RULES = {
  'nobody is logged out but for a documented reason': 'ADR 0002, 0003, 0005',
  'a request that failed can be repeated': 'ADR 0003',
  'a copied cookie of a bound session is worthless': 'ADR 0006',
  "the owner's next refresh ends the session of a thief": 'ADR 0002',
  'a replaced token ends its session': 'ADR 0002',
  'of any number of concurrent uses of a token one succeeds': 'ADR 0002',
  'a session that has ended gives no token': 'SPEC, refresh procedure',
  'an access token of a session that has ended is refused': 'ADR 0004',
  'of what works once one use succeeds': 'ADR 0010, docs/security.md',
  'what ends a way in ends it everywhere': 'src/domain/ways-in.ts, ADR 0010',
  'the feed of ended sessions and the gateway agree within two seconds': 'ADR 0029',
  'after all faults the world is well within a minute': 'ADR 0019',
  'a disabled account gets no token': 'docs/operate.md',
  'a new session has the key of the former one': 'ADR 0006',
  'a log-out ends the session': 'SPEC, log-out',
  'an end has its reason': 'ADR 0005',
  'no change is lost': 'docs/own-store.md',
  'the list of ended sessions names each': 'ADR 0029',
  'guesses of a password are limited': 'ADR 0008',
  'a change is told by mail': 'ADR 0011',
  'each answer is as the OpenAPI document says': 'ADR 0016',
  'no error is unexpected': 'ADR 0014',
  'no request fails without a fault': 'docs/observe.md',
  'nothing waits for ever': 'ADR 0017',
  'a mail goes out once': 'ADR 0012',
  'no mail is lost': 'ADR 0012',
  'webhooks come in order': 'ADR 0030',
  'webhooks come at least once': 'ADR 0030',
  'the password works': 'SPEC, log-in',
  'tabs agree': 'docs/browser.md',
  'what has expired is purged': 'ADR 0019',
  'no transaction stays open': 'ADR 0019',
  'the kernel owns every wait': 'test/simulation/process.ts',
} as const;
export type Rule = keyof typeof RULES;
type Violation = { readonly rule: Rule; readonly text: string; readonly at: string };

export type Story = ReturnType<typeof openStory>;

/** What happens in a world, and which rules held. */
export const openStory = (trace?: (line: string) => void, mostViolations = 5) => {
  const violations: Violation[] = [];
  /** How often a rule was looked at, and how often there was an excuse. */
  const looks = new Map<Rule, { judged: number; excused: number }>();
  const at = () =>
    `${Math.floor((kernel.time - START) / 86_400_000)}d ${new Date(kernel.time).toISOString().slice(11, 23)}`;
  const tell = (text: string): void => {
    kernel.note(text);
    trace?.(`${at()}  ${text}`);
  };
  return {
    ...{ violations, looks, tell },
    /** For what does not belong to the hash of the run. */
    remark: (text: string): void => trace?.(`${at()}  ${text}`),
    /** @param excuse a documented reason why the rule need not hold */
    expect(rule: Rule, holds: boolean, text: () => string, excuse: string | false = false): void {
      const look = looks.get(rule) ?? { judged: 0, excused: 0 };
      looks.set(rule, look);
      look[excuse ? 'excused' : 'judged'] += 1;
      if (holds) return;
      tell(`${excuse || 'VIOLATION'}: ${rule}: ${text()}`);
      if (!excuse) violations.push({ rule, text: text(), at: `after ${kernel.events} events, ${at()}` });
      if (violations.length >= mostViolations) kernel.isStopped = true;
    },
    /** Waits, and says so when it takes too long. @returns the error, too */
    async within<Result>(what: string, work: Promise<Result>, limit = 4 * MINUTE) {
      const late = kernel.after(limit, () =>
        this.expect('nothing waits for ever', false, () => `${what}: ${limit / SECOND} s`),
      );
      const outcome = await work.then(
        (result) => ({ result, error: undefined }),
        (error: { readonly code?: string }) => ({ result: undefined, error }),
      );
      this.expect('nothing waits for ever', true, () => what);
      late.call = null;
      return outcome;
    },
  };
};
