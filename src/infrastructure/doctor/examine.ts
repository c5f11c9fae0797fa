import { reasonOf } from '../../adapters/redaction/redact-error.ts';
import { systemReason } from '../../adapters/redaction/system-reason.ts';
import { withTimeout } from '../../adapters/resilience/response-timeout.ts';
import { readConfig } from '../config.ts';
import { type Finding, note, problem } from './finding.ts';
import { GROUPS } from './groups.ts';
import type { Patient } from './patient.ts';
import { GROUP_TIMEOUT } from './probes/limits.ts';

export type Examined = { readonly name: string; readonly title: string; readonly findings: readonly Finding[] };

/** Examines all groups at the same time. Writes nothing. A group that fails, or hangs, has a finding about that. */
export const examine = (given: Omit<Patient, keyof ReturnType<typeof readConfig>>): Promise<Examined[]> => {
  const patient = { ...given, ...readConfig(given.env) };
  return Promise.all(
    GROUPS.map(async (group) => ({ name: group.name, title: group.title, findings: await findingsOf(group, patient) })),
  );
};

const findingsOf = async (group: (typeof GROUPS)[number], patient: Patient): Promise<Finding[]> => {
  const { name, needs } = group;
  const invalid = needs.filter((variable) => patient.unread.has(variable));
  if (invalid.length > 0)
    return [
      note(`${name}.skipped`, `Not looked at: ${invalid.join(', ')} is invalid.`, 'See the group Configuration.'),
    ];
  try {
    // An async function, so that an error of a synchronous check is a rejection, too.
    return await withTimeout(GROUP_TIMEOUT, (async () => group.examine(patient))(), noAnswer);
  } catch (error) {
    return [
      problem(
        `${name}.failed`,
        `This could not be examined: ${whyFailed(error)}.`,
        'Correct that, or run the doctor as the user that runs the service.',
      ),
    ];
  }
};

/** The system's own errors name a path or an address. Other messages may quote values. */
const whyFailed = (error: unknown): string => {
  if (error instanceof Unanswered) return error.message;
  const isOfSystem = error instanceof Error && typeof Reflect.get(error, 'syscall') === 'string';
  return (isOfSystem ? systemReason(error) : reasonOf(error)) || 'unknown';
};

class Unanswered extends Error {}

const noAnswer = () => new Unanswered(`no answer within ${GROUP_TIMEOUT / 1_000} s`);
