import { parseArgs } from 'node:util';
import { failureOf, invalidArguments, type Status } from '../command-error.ts';
import type { Env } from '../config/variables.ts';
import { printable, printableJson } from '../texts.ts';
import type { Terminal } from './terminal.ts';

/** The options of an action by name. `true`: a flag. A text: the name of the option's value in the help. */
type Options = Readonly<Record<string, true | string>>;
type Values<Declared> = {
  readonly [Name in keyof Declared]: Declared[Name] extends true ? boolean : string | undefined;
};

type ActionInput<Declared> = {
  readonly args: readonly string[];
  readonly options: Values<Declared>;
  readonly env: Env;
  readonly terminal: Terminal;
};

/** The output of an action: `text`, or where the output is JSON, the object `json` in one line, if there is one. */
export type Answer = { readonly text: string; readonly json?: object; readonly status?: Status };

/** An action of a command, such as `users find USER`. The help of the command is made from it. */
export type Action<Declared = Options> = {
  /** The names of the arguments in the help. `FILE…` stands for one or more, `[USER]` for one or none. */
  readonly args?: readonly string[];
  readonly options?: Declared;
  readonly does: string;
  readonly run: (input: ActionInput<Declared>) => Promise<Answer>;
};

export type Command = {
  /** The actions by their names. The action `''` is run if the arguments name none. */
  readonly actions: Readonly<Record<string, Action>>;
  readonly notes: string;
  /** The exit status after a failure that has none of its own. Default: 1. */
  readonly failureStatus?: Status;
  /** Whether the command prints results and errors as JSON without `--json`, too. */
  readonly isJson?: boolean;
};

/** Declares an action: its `run` gets options of their declared types. */
export const action = <const Declared extends Options = Readonly<Record<never, never>>>(
  declaration: Action<Declared>,
) => declaration as unknown as Action;

const signatureOf = (command: string, [name, { args = [], options = {} }]: readonly [string, Action]): string => {
  const flags = Object.entries(options).map(([option, kind]) => `[--${option}${kind === true ? '' : ` ${kind}`}]`);
  return ['npx tandem', command, name, ...args, ...flags].filter(Boolean).join(' ');
};

const helpOf = (name: string, { actions, notes }: Command): string => {
  const lines = Object.entries(actions).map((each) => `${signatureOf(name, each)}\n    ${each[1].does}\n`);
  return `${lines.join('')}\n${notes}\n`;
};

/** Finds the action that the arguments name, and parses the arguments after it. @throws CommandError */
const parseCommand = (command: string, { actions }: Command, args: readonly string[]) => {
  const [first = ''] = args;
  const name = first.startsWith('-') ? '' : first;
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (found === undefined) {
    const names = Object.keys(actions).map((each) => each || `npx tandem ${command}`);
    throw invalidArguments(`The commands are ${names.join(', ')}.`);
  }
  const { values, positionals } = parseOptions(name === '' ? args : args.slice(1), found.options);
  if (!isArgumentCount(positionals, found.args))
    throw invalidArguments(`Expected: ${signatureOf(command, [name, found])}`);
  return { action: found, args: positionals, options: values as Values<Options> };
};

const isArgumentCount = (values: readonly string[], args: readonly string[] = []): boolean =>
  values.length >= args.filter((name) => !name.startsWith('[')).length &&
  (values.length <= args.length || args.some((name) => name.endsWith('…')));

const FLAG = { type: 'boolean', default: false } as const;

const parseOptions = (args: readonly string[], declared: Options = {}) => {
  const options = Object.entries(declared).map(([name, kind]) => [name, kind === true ? FLAG : { type: 'string' }]);
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(options), allowPositionals: true });
  } catch (error) {
    throw invalidArguments(error instanceof Error ? error.message : 'The arguments cannot be read.');
  }
};

export const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const jsonLine = (json: object): string => `${printableJson(JSON.stringify(withTimes('', json)))}\n`;

const TIME = /^(?:at|\w+At)$/;

/** Writes times in ISO 8601; the time 0, such as that of a password that was never changed, becomes `null`. The attributes of a user stay as they are. */
export const withTimes = (name: string, value: unknown): unknown => {
  if (TIME.test(name) && typeof value === 'number') return value === 0 ? null : new Date(value).toISOString();
  if (Array.isArray(value)) return value.map((each) => withTimes('', each));
  if (name === 'attributes' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, each]) => [member, withTimes(member, each)]));
};

/** Runs a command. The reason of a failure goes to standard error, and if the output is JSON, also to standard output. */
export const runAction = async (
  name: string,
  command: Command,
  args: readonly string[],
  env: Env,
  terminal: Terminal,
): Promise<Status> => {
  const { print, warn } = terminal;
  const asJson = command.isJson === true || args.includes('--json');
  try {
    if (args.some((each) => each === '--help' || each === '-h')) {
      await print(helpOf(name, command));
      return 0;
    }
    const { action, ...input } = parseCommand(name, command, args);
    const { text, json, status = 0 } = await action.run({ ...input, env, terminal });
    const output = asJson && json !== undefined ? jsonLine(json) : text;
    // An empty text is not printed, since the service must also start if standard output is closed.
    if (output !== '') await print(output);
    return status;
  } catch (error) {
    const { status, code, message } = failureOf(error, command.failureStatus);
    if (code === 'arguments') warn(`${printable(message)}\n\n${helpOf(name, command)}`);
    else warn(`${message}\n`);
    if (asJson) await print(jsonLine({ error: { code, message } }));
    return status;
  }
};
