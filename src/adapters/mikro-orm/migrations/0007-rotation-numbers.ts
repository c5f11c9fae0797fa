import { Migration } from '@mikro-orm/migrations';

/**
 * The defaults are constant: no row is rewritten, and instances of the previous version can still insert and rotate sessions. A null
 * is read as the time of the last rotation. `earlier_tokens` stays, since they write it.
 */
export class RotationNumbers extends Migration {
  override up(): void {
    this.addSql(`alter table "sessions" add column "rotation" bigint not null default 0,
      add column "run_started_at" bigint null, add column "run_first" bigint not null default 0`);
  }
}
