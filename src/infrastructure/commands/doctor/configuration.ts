import { type Finding, ok, problem, type SetUp, warning } from './finding.ts';

/** What the start would refuse or warn of, in the same words. */
export const configuration = ({
  config,
  problems,
  unread,
}: Pick<SetUp, 'config' | 'problems' | 'unread'>): Finding[] => {
  const names = [...unread];
  // A variable with an invalid value has its default meanwhile, of which a warning would mislead.
  const warnings = [...config.databaseWarnings, ...config.warnings].filter(
    (text) => !names.some((name) => text.includes(name)),
  );
  return [
    ...(problems.length === 0 ? [ok('configuration.valid', 'The service accepts all variables.')] : []),
    ...problems.map((text) => problem(idOf(text), text, adviceFor(text))),
    ...warnings.map((text) => warning(idOf(text), text, 'Change it, unless it is intended: docs/configuration.md.')),
  ];
};

/** Every line begins with the name of its variable. */
const idOf = (text: string): string => `configuration.${/^[A-Z][A-Z0-9_]*/.exec(text)?.[0] ?? 'other'}`;

const adviceFor = (text: string): string =>
  /^JWT_\w+_KEY: required/.test(text)
    ? 'Make the keys with `npm run keys -- generate`, and set all four variables.'
    : 'Correct it, or the service does not start: docs/configuration.md.';
