import { canStartPgbouncer, startPgbouncer } from '../servers/of-the-tests.ts';
import { createDatabase, TEST_DATABASE_URL } from './databases.ts';

/** A fresh database of the tests' PostgreSQL: its own URL, and the one by which the service under test reaches it. */
export type Routed = { readonly direct: string; readonly url: string };

/** Makes a database that is removed when the test has finished. */
const onlyDirect = async (): Promise<Routed> => {
  const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
  return { direct: url, url };
};

/** The same behind a PgBouncer of the test's own. @param settings of pgbouncer.ini. */
export const behindPgbouncer = async (settings?: Readonly<Record<string, string>>): Promise<Routed> => {
  const { direct } = await onlyDirect();
  return { direct, url: (await startPgbouncer(direct, settings)).url };
};

/** The ways to a database that can be tried here; all of them in CI. */
export const ROUTES: readonly (readonly [string, () => Promise<Routed>])[] = [
  ...(TEST_DATABASE_URL === undefined ? [] : [['directly', onlyDirect] as const]),
  ...(canStartPgbouncer() ? [['through PgBouncer', () => behindPgbouncer()] as const] : []),
];
