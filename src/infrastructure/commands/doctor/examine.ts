import { withTimeout } from '../../../adapters/limits/time-limits.ts';
import { reasonOf, systemReason } from '../../../adapters/log/redact-error.ts';
import type { VariableName } from '../../config/variables.ts';
import type { ReadConfig } from '../../config.ts';

export type SetUp = ReadConfig & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly nodeArguments: readonly string[];
};

/** `note`: information. `warning`: something is risky, or probably not intended. `problem`: something has to be corrected. */
export type Severity = 'ok' | 'note' | 'warning' | 'problem';

/** One result of the doctor. It contains no secret. */
export type Finding = {
  /** The name of the check, a dot, and a name that stays the same in later versions. Several findings may have the same id. */
  readonly id: string;
  readonly severity: Severity;
  readonly seen: string;
  /** A sentence that says what to do; `null` for the severity `ok`. */
  readonly advice: string | null;
};

export type Findings = Finding | readonly Finding[];

export const ok = (id: string, seen: string): Finding => ({ id, severity: 'ok', seen, advice: null });

const withAdvice =
  (severity: Severity) =>
  (id: string, seen: string, advice: string): Finding => ({ id, severity, seen, advice });

export const note = withAdvice('note');
export const warning = withAdvice('warning');
export const problem = withAdvice('problem');

export const ANSWER_TIMEOUT_MS = 3_000;
const CHECK_TIMEOUT_MS = 10_000;

export type Check = {
  /** The ids of the check's findings begin with this name. */
  readonly name: string;
  readonly title: string;
  readonly run: (setUp: SetUp) => Findings | Promise<Findings>;
  /** The check is skipped if one of these variables is invalid. */
  readonly reads: readonly VariableName[];
};

export type CheckReport = { readonly title: string; readonly findings: readonly Finding[] };

/** Runs all checks at the same time. A check that fails or hangs becomes a finding. */
export const examine = (checks: readonly Check[], setUp: SetUp): Promise<CheckReport[]> =>
  Promise.all(checks.map(async (check) => ({ title: check.title, findings: [await findingsOf(check, setUp)].flat() })));

const findingsOf = async ({ name, reads, run }: Check, setUp: SetUp): Promise<Findings> => {
  const invalid = reads.filter((variable) => setUp.invalidNames.has(variable)).join(', ');
  if (invalid !== '')
    return note(`${name}.skipped`, `Not examined: ${invalid} is invalid.`, 'See the group Configuration.');
  try {
    // The async function turns an error of a synchronous check into a rejection.
    return await withTimeout(CHECK_TIMEOUT_MS, (async () => run(setUp))(), noAnswer);
  } catch (error) {
    const advice = 'Correct that, or run the doctor as the user that runs the service.';
    return problem(`${name}.failed`, `This could not be examined: ${whyFailed(error)}.`, advice);
  }
};

/** Messages of the operating system quote at most a path or an address. Those of other errors may quote values, so `reasonOf` describes them. */
const whyFailed = (error: unknown): string => {
  const isOfSystem = error instanceof Error && typeof Reflect.get(error, 'syscall') === 'string';
  return (isOfSystem ? systemReason(error) : reasonOf(error)) || 'unknown';
};

const noAnswer = () => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
