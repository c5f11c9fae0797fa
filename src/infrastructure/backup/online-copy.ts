import type { SqlEntityManager } from '@mikro-orm/sql';
import * as v from 'valibot';
import { appliedMigrations } from '../tables/migrations.ts';
import { sendOver } from '../tables/tables.ts';

/** The files of WAL are those from the first to the last name, in the order of the names. */
export const CopyStart = v.object({ firstWal: v.string(), migrations: v.array(v.string()) });
export type CopyStart = v.InferOutput<typeof CopyStart>;

export const CopyEnd = v.object({ lastWal: v.string(), label: v.string(), endedAt: v.string() });
export type CopyEnd = v.InferOutput<typeof CopyEnd>;

/**
 * Between `begin` and `end`, the files of the database may be copied while it is used. With the content of `label` as `backup_label`,
 * and the WAL from `begin` to `end`, the copy opens with what was committed before `end` (PostgreSQL's manual, "Making a Base Backup
 * Using the Low Level API"). The embedded database has one session, so there is one copy at a time.
 */
export type OnlineCopy = { begin(): Promise<CopyStart>; end(): Promise<CopyEnd> };

/** The second argument asks for a checkpoint at once: what is not written yet is at most the buffers, 128 MiB. */
const BEGIN = `select pg_walfile_name(pg_backup_start('tandem', true)) as name`;
/** Nothing archives WAL that could be waited for. */
const END = `select pg_walfile_name(lsn) as name, labelfile as label from pg_backup_stop(wait_for_archive => false)`;

export const onlineCopy = (em: SqlEntityManager): OnlineCopy => {
  const send = sendOver(em.getKysely());
  return {
    begin: async () => {
      const migrations = await appliedMigrations(send);
      const [row] = await send<{ name: string }>(BEGIN);
      return { firstWal: row?.name ?? '', migrations };
    },
    end: async () => {
      const [row] = await send<{ name: string; label: string }>(END);
      return { lastWal: row?.name ?? '', label: row?.label ?? '', endedAt: new Date().toISOString() };
    },
  };
};
