import type { SqlEntityManager } from '@mikro-orm/sql';
import { CompiledQuery, type KyselyPlugin } from 'kysely';

/** The members of a node in a PostgreSQL plan that are read here. */
type PlanNode = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
};

/** The scans of one statement, such as `Index Scan sessions_pkey` or `Seq Scan sessions`. */
export type Plan = { readonly sql: string; readonly scans: readonly string[] };

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
  await work(Object.create(em, { getKysely: { value: () => db } }));
  const plans: Plan[] = [];
  for (const { sql, parameters } of sent) {
    const explained = CompiledQuery.raw(`explain (format json) ${sql}`, [...parameters]);
    const { rows } = await em.getKysely().executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explained);
    plans.push({ sql, scans: rows.flatMap((row) => scansIn(row['QUERY PLAN'][0].Plan)) });
  }
  return plans;
};

const scansIn = (node: PlanNode): string[] => {
  const on = node['Index Name'] ?? node['Relation Name'];
  const scan = node['Node Type'].endsWith('Scan') && on !== undefined ? [`${node['Node Type']} ${on}`] : [];
  return [...scan, ...(node.Plans ?? []).flatMap(scansIn)];
};
