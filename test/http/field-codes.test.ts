import { globSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { changePasswordBody } from '../../src/adapters/http/routes/accounts/account.ts';
import { CHECKS, fieldProblems } from '../../src/adapters/json/field-problems.ts';
import { FIELD_CODES, type FieldCode } from '../../src/domain/errors/app-error.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { declaredRoutes } from '../support/http/service.ts';

/** A schema, or a step of its pipe. */
type Part = {
  readonly kind: string;
  readonly type: string;
  readonly requirement?: unknown;
  readonly pipe?: readonly Part[];
  readonly entries?: Readonly<Record<string, Part>>;
  readonly item?: Part;
  readonly wrapped?: Part;
  readonly options?: readonly unknown[];
};

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && 'kind' in value;

/** A part, and all parts in it. */
const partsOf = (part: Part): Part[] => {
  const { pipe = [], entries = {}, item, wrapped, options = [] } = part;
  const inside = [...pipe, ...Object.values(entries), item, wrapped, ...options].filter(isPart);
  return [part, ...inside.flatMap(partsOf)];
};

const parts = (await declaredRoutes())
  .flatMap(({ request: { body, query, params } }): unknown[] => [body, query, params])
  .filter(isPart)
  .flatMap(partsOf);

/** What a value gets wrong at one check. Not in a body, where an empty text counts as missing. */
const problemAt = (schema: v.GenericSchema, value: unknown, check: string) => {
  const { issues = [] } = v.safeParse(schema, value);
  const issue = issues.find(({ type }) => type === check);
  return issue && fieldProblems([issue], 'query')[0];
};

const isArray = ({ type }: Part): boolean => type === 'array';
const ofLength = (part: Part, length: number): unknown =>
  isArray(part) ? Array(length).fill('usb') : 'a'.repeat(length);

/** Values just beyond a limit. */
const BEYOND: Readonly<Record<string, (part: Part, limit: number) => unknown>> = {
  min_length: (part, limit) => ofLength(part, limit - 1),
  max_length: (part, limit) => ofLength(part, limit + 1),
  max_entries: (_, limit) => Object.fromEntries(Array.from({ length: limit + 1 }, (_each, at) => [`a${at}`, ''])),
  min_value: (_, limit) => `${limit - 1}`,
  max_value: (_, limit) => `${limit + 1}`,
};

const limited = parts.flatMap((part) =>
  (part.pipe ?? [])
    .filter(({ type }) => Object.hasOwn(BEYOND, type))
    .map(({ type, requirement }) => ({ part, check: type, limit: Number(requirement) })),
);

const NUMBERED = Object.entries(FIELD_CODES).flatMap(([code, number]) => (number === null ? [] : [code]));

describe('the codes of fields', () => {
  it('are known for each check of a schema, and each check that is known is used', () => {
    const checks = parts.filter(({ kind }) => kind === 'validation').map(({ type }) => type);
    expect([...new Set(checks)].sort()).toEqual(Object.keys(CHECKS).sort());
  });

  it('have a type where a rule of the service names them', () => {
    const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => readText(file).includes('rawCheck'));
    expect(files).toEqual(['src/adapters/json/fields.ts']);
  });

  it('are all listed where a check has a limit, which is the first number of the message', () => {
    expect(limited.length).toBeGreaterThan(20);
    const codes = new Set<FieldCode>();
    for (const { part, check, limit } of limited) {
      // A part with a pipe is a schema.
      const problem = problemAt(part as unknown as v.GenericSchema, BEYOND[check]?.(part, limit), check);
      expect([check, /\d+/.exec(problem?.message ?? '')?.[0]]).toEqual([check, `${limit}`]);
      if (problem) codes.add(problem.code);
    }
    expect([...codes].sort()).toEqual(NUMBERED.toSorted());
  });

  it.each([
    ['short', 'too_short', 8],
    ['a'.repeat(73), 'too_long', 72],
  ])('of a password have a limit, too: %s', (newPassword, code, limit) => {
    const problem = problemAt(
      changePasswordBody({ minLength: 8, maxBytes: 72 }),
      { currentPassword: 'a', newPassword },
      'raw_check',
    );
    expect(problem).toMatchObject({ field: 'newPassword', code });
    expect(/\d+/.exec(problem?.message ?? '')?.[0]).toBe(`${limit}`);
  });

  it('count the entries of a list', () => {
    const schema = v.pipe(v.array(v.string()), v.maxLength(1));
    expect(problemAt(schema, ['a', 'b'], 'max_length')?.message).toBe('must have at most 1 entry');
  });

  it('say which values are allowed', () => {
    const problem = problemAt(v.object({ mediation: v.literal('conditional') }), { mediation: 'silent' }, 'literal');
    expect(problem).toEqual({ field: 'mediation', message: 'must be one of "conditional"', code: 'invalid_value' });
  });
});
