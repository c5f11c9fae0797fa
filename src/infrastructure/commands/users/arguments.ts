import { parseArgs } from 'node:util';
import { type Attributes, readAttributes } from '../../../domain/attributes.ts';
import { hidesSomething, typedName } from '../../../domain/text.ts';
import { CHANGES } from './change.ts';

const READING = ['find', 'show', 'events', 'export'] as const;
type UserCommand = (typeof READING)[number] | keyof typeof CHANGES;

const isChange = (name: string): name is keyof typeof CHANGES => Object.hasOwn(CHANGES, name);
const commandOf = (name: string): UserCommand | undefined =>
  isChange(name) ? name : READING.find((each) => each === name);

export type UserOptions = {
  readonly command: UserCommand;
  /** A username, an email address or an id. */
  readonly account: string;
  /** Those of `set-attributes`; otherwise none. */
  readonly attributes: Attributes;
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  /** The name under which a change is recorded; `null`: that of the system's user. */
  readonly as: string | null;
  /** Epoch milliseconds. */
  readonly since: number | null;
  readonly until: number | null;
};

/** @returns `null` when help is asked for. @throws Error that says what is wrong with the arguments. */
export const readArguments = (args: readonly string[]): UserOptions | null => {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      'dry-run': { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
      as: { type: 'string' },
      since: { type: 'string' },
      until: { type: 'string' },
    },
    allowPositionals: true,
  });
  if (values.help) return null;
  const [name = '', given = '', ...others] = positionals;
  const account = typedName(given);
  const command = commandOf(name);
  if (command === undefined) throw new Error(name === '' ? 'A command is missing.' : `There is no command ${name}.`);
  const setsAttributes = command === 'set-attributes';
  const [attributes = '{}', ...more] = setsAttributes ? others : [undefined, ...others];
  if (setsAttributes && others.length === 0) throw new Error('set-attributes needs a USER and a JSON object.');
  if (account === '' || more.length > 0) throw new Error(`${command} needs one USER.`);
  if (values['dry-run'] && !isChange(command)) throw new Error(`${command} changes nothing, and has no --dry-run.`);
  if (values.yes && !isChange(command)) throw new Error(`${command} asks nothing, and has no --yes.`);
  const as = values.as?.trim() ?? null;
  if (as !== null && !isChange(command)) throw new Error(`${command} changes nothing, and has no --as.`);
  if (as !== null && (!NAME.test(as) || hidesSomething(as)))
    throw new Error('--as needs a name of at most 64 visible characters.');
  const since = values.since === undefined ? null : timeOf('--since', values.since);
  const until = values.until === undefined ? null : timeOf('--until', values.until);
  if (command !== 'events' && (since ?? until) !== null) throw new Error('Only events has --since and --until.');
  if (since !== null && until !== null && since > until) throw new Error('--since has to be before --until.');
  return {
    command,
    account,
    attributes: readAttributes(attributes),
    json: values.json,
    dryRun: values['dry-run'],
    yes: values.yes,
    as,
    since,
    until,
  };
};

const NAME = /^.{1,64}$/u;

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** `Date.parse` takes 30 February for a day in March. */
const isDate = (date: string): boolean => new Date(date).toISOString().startsWith(date);

/** A time without a zone is in UTC, as those in the log and in the tables. */
const timeOf = (option: string, text: string): number => {
  const match = TIME.exec(text);
  const isWithoutZone = text.includes('T') && match?.groups?.zone === undefined;
  const time = Date.parse(isWithoutZone ? `${text}Z` : text);
  if (match === null || Number.isNaN(time) || !isDate(text.slice(0, 10)))
    throw new Error(`${option} needs a time such as 2026-11-22T10:02, in UTC, or 2026-11-22T11:02+01:00.`);
  return time;
};
