import { isVisibleLine } from './text.ts';

/** What a program of an operator may do at the back office. ADR 0031. */
export const SCOPES = ['users:read', 'users:write'] as const;
export type Scope = (typeof SCOPES)[number];

/** A program of an operator. */
export type Operator = { readonly name: string; readonly scopes: readonly Scope[] };

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

const NAME_MAX_LENGTH = 64;

/** Whether a text can name who makes a change, in events and in the audit log. */
export const isOperatorName = (text: string): boolean => isVisibleLine(text, NAME_MAX_LENGTH);
