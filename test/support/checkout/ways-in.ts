import { ACCOUNT_ACTS, fateOf, WAYS_IN } from '../../../src/domain/ways-in.ts';

/** The table of ways in and acts, for `docs/security.md`. */
export const waysTable = (): string =>
  [
    `| | ${ACCOUNT_ACTS.join(' | ')} |`,
    `|---|${ACCOUNT_ACTS.map(() => '---|').join('')}`,
    ...WAYS_IN.map((way) => `| ${way} | ${ACCOUNT_ACTS.map((act) => fateOf(way, act)).join(' | ')} |`),
    '',
  ].join('\n');

/** The page, with that table. */
export const withWays = (page: string): string =>
  page.replace(/(<!-- ways-in -->\n).*(<!-- \/ways-in -->)/s, (_all, begin, end) => `${begin}${waysTable()}${end}`);
