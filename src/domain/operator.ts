import type { Attributes } from './attributes.ts';
import { isVisibleLine } from './text.ts';

/** What an operator may do at the back office. ADR 0031. */
export const SCOPES = ['users:read', 'users:write'] as const;
export type Scope = (typeof SCOPES)[number];

/** A program that calls the back office, or a person at its pages. */
export type Operator = { readonly name: string; readonly scopes: readonly Scope[] };

/** Makes operators of the users whose attribute is this value, or is a list that contains it. */
export type OperatorRule = { readonly attribute: string; readonly value: string; readonly scopes: readonly Scope[] };

export const scopesOf = (rules: readonly OperatorRule[] | undefined, attributes: Attributes): readonly Scope[] => {
  const matching = (rules ?? []).filter(({ attribute, value }) => [attributes[attribute]].flat().includes(value));
  return SCOPES.filter((scope) => matching.some(({ scopes }) => scopes.includes(scope)));
};

export const isOperator = (rules: readonly OperatorRule[] | undefined, attributes: Attributes): boolean =>
  scopesOf(rules, attributes).length > 0;

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

const NAME_MAX_LENGTH = 64;

/** Whether a text can be the name of an operator in events and in the audit log. The suffix of a person comes after it. */
export const isOperatorName = (text: string): boolean => isVisibleLine(text, NAME_MAX_LENGTH);

/** Distinguishes people at the pages of the back office from programs and commands of the same name. */
const PERSON_SUFFIX = ' (page)';

export const isProgramName = (text: string): boolean => isOperatorName(text) && !text.trimEnd().endsWith(PERSON_SUFFIX);

export const actorOfPerson = (name: string): string => name + PERSON_SUFFIX;
