import { ACCOUNT_ACTS, fateOf, WAYS_IN } from '../../../src/domain/ways-in.ts';

/** The Markdown table of `docs/security.md`: what happens to each way in at each act. */
export const waysTable = (): string =>
  [
    `| | ${ACCOUNT_ACTS.join(' | ')} |`,
    `|---|${ACCOUNT_ACTS.map(() => '---|').join('')}`,
    ...WAYS_IN.map((way) => `| ${way} | ${ACCOUNT_ACTS.map((act) => fateOf(way, act)).join(' | ')} |`),
    '',
  ].join('\n');

/** The page `docs/security.md`, with the table. */
export const withWays = (page: string): string =>
  page.replace(/(<!-- ways-in -->\n).*(<!-- \/ways-in -->)/s, (_all, begin, end) => `${begin}${waysTable()}${end}`);
