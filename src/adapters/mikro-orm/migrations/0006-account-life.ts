import { Migration } from '@mikro-orm/migrations';

/**
 * Verified addresses and disabled accounts, what happened to accounts, the links that were sent, and the messages to send. Nullable
 * columns without a default: no row is rewritten, and instances of the previous version can still insert users.
 */
export class AccountLife extends Migration {
  override up(): void {
    this.addSql('alter table "users" add column "email_verified_at" bigint null, add column "disabled_at" bigint null');
    this.addSql(`create table "events" (
      "id" char(26) not null,
      "user_id" char(26) not null constraint "events_user_id_fkey" references "users" ("id") on delete cascade,
      "kind" text not null,
      "at" bigint not null,
      "session_id" char(26) null,
      "reason" text null,
      "count" int not null default 1,
      "refused_from" bigint null,
      "request_id" text null,
      "user_agent" text null,
      "address" text null,
      constraint "events_pkey" primary key ("user_id", "id"),
      constraint "events_user_id_refused_from_key" unique ("user_id", "refused_from")
    )`);
    // For devices of log-ins, and for counts of a kind since a time.
    this.addSql('create index "events_device_index" on "events" ("user_id", "kind", "address", "user_agent", "at")');
    this.addSql('create index "events_at_index" on "events" ("at")');
    this.addSql(`create table "links" (
      "user_id" char(26) not null constraint "links_user_id_fkey" references "users" ("id") on delete cascade,
      "purpose" text not null,
      "token_hash" text not null constraint "links_token_hash_key" unique,
      "email" text not null,
      "created_at" bigint not null,
      "expires_at" bigint not null,
      constraint "links_pkey" primary key ("user_id", "purpose")
    )`);
    this.addSql('create index "links_expires_at_index" on "links" ("expires_at")');
    this.addSql('create index "links_email_index" on "links" ("email")');
    this.addSql(`create table "outbox" (
      "id" char(26) not null constraint "outbox_pkey" primary key,
      "kind" text not null,
      "user_id" char(26) null constraint "outbox_user_id_fkey" references "users" ("id") on delete cascade,
      "to" text not null,
      "email" text null,
      "origin" jsonb not null,
      "created_at" bigint not null,
      "attempts" int not null default 0,
      "next_attempt_at" bigint not null,
      "waiting_request" text null constraint "outbox_waiting_request_key" unique
    )`);
    this.addSql('create index "outbox_user_id_index" on "outbox" ("user_id")');
    this.addSql('create index "outbox_next_attempt_at_index" on "outbox" ("next_attempt_at")');
  }
}
