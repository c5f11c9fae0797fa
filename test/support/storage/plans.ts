import type { SqlEntityManager } from '@mikro-orm/sql';
import { CompiledQuery, type KyselyPlugin } from 'kysely';

/** The members of a node in a PostgreSQL plan that are read here. */
type PlanNode = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
};

/** The scans of one statement, such as `Index Scan sessions_pkey` or `Seq Scan sessions`. */
export type Plan = {
  readonly sql: string;
  readonly scans: readonly string[];
  /** Pages that the statement reads; `null` when it changes something. */
  readonly pages: number | null;
};

/** Gives a Kysely an executor of its own. */
const NO_CHANGES: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => result,
};

/** The plans of the statements that `work` executes with the given entity manager. */
export const plansOf = async (
  em: SqlEntityManager,
  work: (em: SqlEntityManager) => Promise<unknown>,
): Promise<Plan[]> => {
  const sent: CompiledQuery[] = [];
  const db = em.getKysely().withPlugin(NO_CHANGES);
  const executor = db.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (query, options) => {
    sent.push(query);
    return execute(query, options);
  };
  const fork = em.fork();
  fork.setTransactionContext(db);
  await work(fork);
  const plans: Plan[] = [];
  for (const { sql, parameters } of sent) {
    // To measure a statement is to execute it again.
    const isRead = /^select /.test(sql) && !/ for (no key )?update/.test(sql);
    const options = isRead ? 'format json, analyze, buffers' : 'format json';
    const explained = CompiledQuery.raw(`explain (${options}) ${sql}`, [...parameters]);
    const { rows } = await em.getKysely().executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explained);
    const roots = rows.map((row) => row['QUERY PLAN'][0].Plan);
    plans.push({ sql, scans: roots.flatMap(scansIn), pages: isRead ? sumOf(roots.map(pagesOf)) : null });
  }
  return plans;
};

const scansIn = (node: PlanNode): string[] => {
  const on = node['Index Name'] ?? node['Relation Name'];
  const scan = node['Node Type'].endsWith('Scan') && on !== undefined ? [`${node['Node Type']} ${on}`] : [];
  return [...scan, ...(node.Plans ?? []).flatMap(scansIn)];
};

const pagesOf = (node: PlanNode): number => (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
