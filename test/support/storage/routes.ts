import { canStartPgbouncer, startPgbouncer } from '../servers/of-the-tests.ts';
import { createDatabase, TEST_DATABASE_URL } from './databases.ts';

/** A new database on the tests' PostgreSQL, by its direct URL and by the URL that the service under test uses. */
export type Routed = { readonly direct: string; readonly url: string };

/** Makes a database that the service reaches directly. */
const onlyDirect = async (): Promise<Routed> => {
  const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
  return { direct: url, url };
};

/** Makes a database that the service reaches through a PgBouncer. @param settings settings of pgbouncer.ini */
export const behindPgbouncer = async (settings?: Readonly<Record<string, string>>): Promise<Routed> => {
  const { direct } = await onlyDirect();
  return { direct, url: (await startPgbouncer(direct, settings)).url };
};

/** The ways to reach a database here. CI has all of them. */
export const ROUTES: readonly (readonly [string, () => Promise<Routed>])[] = [
  ...(TEST_DATABASE_URL === undefined ? [] : [['directly', onlyDirect] as const]),
  ...(canStartPgbouncer() ? [['through PgBouncer', () => behindPgbouncer()] as const] : []),
];
