import { kernel, MINUTE } from './kernel.ts';

/** What has to hold, and where the sentence stands. */
export const RULES = {
  'nobody is logged out but for a documented reason': 'ADR 0002, 0003, 0005',
  'a request that failed can be repeated': 'ADR 0003',
  'a copied cookie of a bound session is worthless': 'ADR 0006',
  'a copied access token of a bound session is worthless': 'ADR 0006',
  'on a new device a password alone opens no session': 'ADR 0008',
  "the owner's next refresh ends the session of a thief": 'ADR 0002',
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
  'every map has a bound': 'CONTRIBUTING.md, style',
  'the kernel owns every wait': 'test/simulation/process.ts',
} as const;
export type Rule = keyof typeof RULES;
/** @param excuse a documented reason why the rule need not hold */
export type Verdict = readonly [rule: Rule, holds: boolean, excuse?: string | false];
export type Story = ReturnType<typeof openStory>;

/** What happens in a world, until a rule is broken. */
export const openStory = (trace?: (line: string) => void) => {
  const at = () => new Date(kernel.time).toISOString();
  const story = {
    /** The rules that were looked at when there was no excuse. */
    judged: new Set<Rule>(),
    violation: undefined as { readonly rule: Rule; readonly text: string } | undefined,
    tell(text: string): void {
      kernel.note(text);
      trace?.(`${at()}  ${text}`);
    },
    expect(rule: Rule, holds: boolean, text: () => string = String, excuse: string | false = false): void {
      if (!excuse) story.judged.add(rule);
      if (holds) return;
      story.tell(`${excuse || 'VIOLATION'}: ${rule}: ${text()}`);
      if (excuse) return;
      story.violation ??= { rule, text: `after ${kernel.events} events, ${at()} ${rule} (${RULES[rule]}): ${text()}` };
      kernel.isStopped = true;
    },
    judge(verdicts: readonly (Verdict | false)[], text: () => string): void {
      for (const each of verdicts) if (each) story.expect(each[0], each[1], text, each[2]);
    },
    /** Waits, and says so when it takes too long. @returns the error, too */
    async within<Result>(what: string, work: Promise<Result>, limit = 4 * MINUTE) {
      const isInTime = (holds: boolean) => story.expect('nothing waits for ever', holds, () => `${what}: ${limit} ms`);
      const timer = kernel.after(limit, () => isInTime(false));
      try {
        return { result: await work, error: undefined };
      } catch (error) {
        return { result: undefined, error: error as { readonly code?: string } };
      } finally {
        timer.call = null;
        isInTime(true);
      }
    },
  };
  return story;
};
