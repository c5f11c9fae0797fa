import type { Report, Reports } from '../../src/application/report.ts';

/** Makes a reporter that passes the details of reports with one name to `take`. */
export const reportsOf =
  <Wanted extends keyof Reports>(wanted: Wanted, take: (...details: Reports[Wanted]) => unknown): Report =>
  (name, ...details) => {
    // The compiler does not know that the details belong to the wanted name.
    if ((name as string) === wanted) take(...(details as unknown as Reports[Wanted]));
  };
