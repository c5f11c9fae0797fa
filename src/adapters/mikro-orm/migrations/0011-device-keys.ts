import { Migration } from '@mikro-orm/migrations';

/** The defaults are constant: no row is rewritten. Sessions that are live stay without a key, and those of the version before have none. */
export class DeviceKeys extends Migration {
  override up(): void {
    this.addSql(`alter table "sessions" add column "device_key" text null, add column "browser_key" text null,
      add column "proofs" bigint[] not null default '{}'`);
  }
}
