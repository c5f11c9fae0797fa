import type { Report, Reports } from '../../src/application/report.ts';

/** Gives the details of the reports with one name to `take`. */
export const reportsOf =
  <Wanted extends keyof Reports>(wanted: Wanted, take: (...details: Reports[Wanted]) => unknown): Report =>
  (name, ...details) => {
    // The compiler does not see that equal names have equal details.
    if ((name as string) === wanted) take(...(details as unknown as Reports[Wanted]));
  };
