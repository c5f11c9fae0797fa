import { inWords } from '../durations.ts';
import { type Finding, note, ok, problem, when } from '../finding.ts';

/** The key pair of one kind of token. */
export type PairFacts = {
  readonly kind: 'access' | 'refresh';
  /** The current key first. */
  readonly kids: readonly string[];
  /** Milliseconds for which a token that was just signed is valid. */
  readonly lifetime: number;
};

/** A file of DATA_DIR with a private key. */
export type KeyFileFacts = {
  readonly kind: 'access' | 'refresh';
  /** Below DATA_DIR. */
  readonly file: string;
  /** `missing`: not made yet. `unusable`: not a private key on P-256. */
  readonly state: 'usable' | 'missing' | 'unusable';
  readonly kid: string | null;
  /** Milliseconds since it was written. */
  readonly age: number | null;
};

const YEAR = 365 * 86_400_000;
const ROTATE = 'Rotate once a year, and when somebody who could read the keys leaves: docs/deploy.md, "Rotate".';

/** Of pairs that the configuration has accepted: they match, and are on P-256. */
export const keyFindings = (pairs: readonly PairFacts[]): Finding[] => [
  ...pairs.flatMap(ofPair),
  note('keys.age', 'How old these keys are is not known: a PEM has no date.', ROTATE),
];

const ofPair = ({ kind, kids: [current = '', ...earlier], lifetime }: PairFacts): Finding[] => [
  ok(`keys.${kind}`, `The pair of ${kind} tokens matches. Tokens are signed with the key ${current}.`),
  ...when(earlier.length > 0, () =>
    note(
      `keys.${kind}.earlier`,
      `Other keys whose ${kind} tokens are accepted: ${earlier.join(', ')}.`,
      `Remove an old key ${inWords(lifetime)} after the last instance stopped signing with it; keep a successor.`,
    ),
  ),
];

/** Of the keys that the service makes for itself outside production. @param shared whether both files have one key. */
export const keyFileFindings = (files: readonly KeyFileFacts[], shared: boolean): Finding[] => [
  ...files.map(ofFile),
  ...when(shared, () =>
    problem(
      'keys.shared',
      'Both kinds of tokens have the same key in DATA_DIR: the service does not start.',
      'Remove keys/refresh.pem; the next start makes a new one, and everybody has to log in again.',
    ),
  ),
  ...when(
    files.some(({ age }) => age !== null && age > YEAR),
    () => note('keys.age', 'A key in DATA_DIR is older than a year.', ROTATE),
  ),
];

const ofFile = ({ kind, file, state, kid, age }: KeyFileFacts): Finding => {
  if (state === 'missing')
    return note(
      `keys.${kind}`,
      `There is no ${file} in DATA_DIR yet.`,
      'Nothing: outside production, the next start makes it.',
    );
  if (state === 'unusable')
    return problem(
      `keys.${kind}`,
      `${file} in DATA_DIR is not a private key on P-256: the service does not start.`,
      'Restore it from a backup, or remove it: the next start makes a new one, and its tokens are no longer accepted.',
    );
  return ok(`keys.${kind}`, `Tokens are signed with the key ${kid} of DATA_DIR, ${inWords(age ?? 0)} old.`);
};
