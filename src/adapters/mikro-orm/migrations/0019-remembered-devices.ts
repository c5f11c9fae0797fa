import { Migration } from '@mikro-orm/migrations';

/** The remembered devices of users, which were sessions in which nothing was shown. */
export class RememberedDevices extends Migration {
  override up(): void {
    this.addSql(`create table "remembered_devices" (
      "id" char(26) not null constraint "remembered_devices_pkey" primary key,
      "user_id" char(26) not null constraint "remembered_devices_user_id_fkey" references "users" ("id") on delete cascade,
      "created_at" bigint not null,
      "expires_at" bigint not null,
      "user_agent" text null,
      "address" text null
    )`);
    this.addSql('create index "remembered_devices_user_id_index" on "remembered_devices" ("user_id")');
    this.addSql('create index "remembered_devices_expires_at_index" on "remembered_devices" ("expires_at")');
    this.addSql(`with "moved" as (delete from "sessions" where "amr" = ''
        returning "id", "user_id", "created_at", "expires_at", "user_agent", "address")
      insert into "remembered_devices" ("id", "user_id", "created_at", "expires_at", "user_agent", "address")
        select * from "moved"`);
  }
}
