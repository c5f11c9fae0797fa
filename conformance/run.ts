import type { Check } from './check.ts';
import { GROUPS } from './checks/checks.ts';
import { newClient } from './client.ts';
import { type Options, Unusable } from './options.ts';
import { Mismatch, Skipped } from './outcome.ts';
import { type Redact, redactor } from './redact.ts';
import { newWorld } from './world.ts';

export type Result = {
  readonly id: string;
  readonly group: string;
  readonly title: string;
  readonly source: string;
  readonly outcome: 'held' | 'failed' | 'skipped';
  /** Of a failed check. */
  readonly expected?: string;
  readonly got?: string;
  /** Of a skipped check. */
  readonly reason?: string;
};

export type Listener = {
  readonly onAccount: (username: string) => void;
  readonly onResult: (result: Result) => void;
  /** Before a wait of so many seconds for a rate limit. */
  readonly onWait: (seconds: number) => void;
};

export type Chosen = { readonly group: string; readonly check: Check };

/** The checks that run with these options. A check that `--only` names runs whatever its part is. @throws Unusable */
export const chosenChecks = ({ only, extended, rateLimits }: Options): readonly Chosen[] => {
  const all = GROUPS.flatMap(({ name, part, checks }) => checks.map((check) => ({ group: name, part, check })));
  const unknown = only.filter((id) => !all.some(({ check }) => check.id === id));
  if (unknown.length > 0) throw new Unusable(`there is no check ${unknown.join(', ')}: --list has all`);
  if (only.length > 0) return all.filter(({ check }) => only.includes(check.id));
  const parts = { specification: true, extended, 'rate-limits': rateLimits };
  return all.filter(({ part }) => parts[part]);
};

export const sourceOf = ({ source: [heading, words] }: Check): string =>
  /^\d{4}$/.test(heading) ? `ADR ${heading}: ${words}` : `SPEC "${heading}": ${words}`;

/** Runs the checks one after the other. @throws Unusable when nothing answers at the address, or registering opens no session */
export const runChecks = async (
  options: Options,
  { onAccount, onResult, onWait }: Listener,
): Promise<readonly Result[]> => {
  const chosen = chosenChecks(options);
  const redact = redactor();
  const { url, timeout, patience } = options;
  const client = newClient({ url, timeout, patience, onWait, onReply: redact.learn });
  const world = newWorld(client, options);
  redact.hide(world.person.password);
  await client.send({ method: 'GET', path: '/errors' }).catch((error: unknown) => {
    throw new Unusable(`no answer at ${url.origin}: ${error instanceof Mismatch ? error.got : 'unknown'}`);
  });
  onAccount(world.person.username);
  const results: Result[] = [];
  for (const { group, check } of chosen) {
    const facts = { id: check.id, group, title: check.title, source: sourceOf(check) };
    const result = { ...facts, ...(await outcomeOf(() => check.run(world), redact.text)) };
    results.push(result);
    onResult(result);
  }
  return results;
};

const outcomeOf = async (
  run: () => Promise<void>,
  redact: Redact,
): Promise<Pick<Result, 'outcome' | 'expected' | 'got' | 'reason'>> => {
  try {
    await run();
    return { outcome: 'held' };
  } catch (error) {
    if (error instanceof Unusable) throw error;
    if (error instanceof Skipped) return { outcome: 'skipped', reason: error.message };
    if (error instanceof Mismatch)
      return { outcome: 'failed', expected: redact(error.expected), got: redact(error.got) };
    const { name, message } = error as Error;
    return { outcome: 'failed', expected: 'responses that the check can read', got: redact(`${name}: ${message}`) };
  }
};
