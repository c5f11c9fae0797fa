import { Migration } from '@mikro-orm/migrations';

/** The passkeys of users. */
export class Passkeys extends Migration {
  override up(): void {
    this.addSql(`create table "passkeys" (
      "id" char(26) not null constraint "passkeys_pkey" primary key,
      "user_id" char(26) not null constraint "passkeys_user_id_fkey" references "users" ("id") on delete cascade,
      "credential_id" text not null constraint "passkeys_credential_id_key" unique,
      "public_key" text not null,
      "user_handle" text not null,
      "counter" bigint not null,
      "transports" text not null,
      "aaguid" text not null,
      "is_synced" boolean not null,
      "is_backed_up" boolean not null,
      "name" text not null,
      "created_at" bigint not null,
      "last_used_at" bigint null
    )`);
    this.addSql('create index "passkeys_user_id_index" on "passkeys" ("user_id")');
  }
}
