import { hash } from 'node:crypto';

const names = new Map<string, string>();

/** Gives a statement a name, by its text. */
export const nameStatement = (text: string): void => {
  names.set(text, `tandem_${hash('sha256', text).slice(0, 16)}`);
};

/** The name under which a statement is prepared; `undefined` for a text that was not named. */
export const statementName = (text: string): string | undefined => names.get(text);
