import type { Fields } from './fields.ts';

/** An entry of a file of another system. `line` is where it begins. */
export type Row = { readonly line: number; readonly row: Fields };
export type RowProblem = { readonly line: number; readonly problem: string };

/** Far more than an entry of any system needs. */
export const ROW_MAX_CHARACTERS = 2 ** 18;

/** Ends the reading of a file. `problem` is the end of a sentence about the line. */
export class FileProblem extends Error {
  readonly line: number;
  readonly problem: string;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
    this.problem = `${problem}; the rest of the file was not read`;
  }
}
