import { type Finding, note, ok, problem, when } from '../finding.ts';

/** A file or a directory with secrets. */
export type SecretFacts = {
  readonly path: string;
  /** Completes "… has". */
  readonly holds: string;
  /** Who besides the owner can read it; `unknown` when this user cannot look. */
  readonly readers: 'nobody' | 'group' | 'everybody' | 'unknown';
};

export const secretFindings = (facts: readonly SecretFacts[]): Finding[] => {
  const safe = facts.filter(({ readers }) => readers === 'nobody');
  return [
    ...when(facts.length === 0, () =>
      ok('secrets.none', 'There is no file with secrets where the service looks for one.'),
    ),
    ...when(safe.length > 0, () =>
      ok('secrets.private', `Only their owner can read: ${safe.map(({ path }) => path).join(', ')}.`),
    ),
    ...facts.flatMap(ofFile),
  ];
};

const ofFile = ({ path, holds, readers }: SecretFacts): Finding[] => {
  const advice = `Run \`chmod go-rwx ${path}\` as its owner.`;
  if (readers === 'everybody')
    return [
      problem(
        'secrets.everybody',
        `Every user of this machine can read ${path}, which has ${holds}.`,
        `${advice} Replace what may have been read.`,
      ),
    ];
  if (readers === 'unknown')
    return [
      note(
        'secrets.unseen',
        `Who can read ${path} is not known here.`,
        'Run the doctor as the user that runs the service; on Windows, look at its permissions.',
      ),
    ];
  return when(readers === 'group', () =>
    note(
      'secrets.group',
      `The group of ${path}, which has ${holds}, can read it.`,
      `${advice} Leave it if only the service is in that group.`,
    ),
  );
};
