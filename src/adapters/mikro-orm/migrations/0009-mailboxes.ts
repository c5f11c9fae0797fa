import { Migration } from '@mikro-orm/migrations';

/** How much mail was sent to addresses that are not verified. */
export class Mailboxes extends Migration {
  override up(): void {
    this.addSql(`create table "mailboxes" (
      "mailbox" text not null constraint "mailboxes_pkey" primary key,
      "refilled_at" bigint not null
    )`);
    this.addSql('create index "mailboxes_refilled_at_index" on "mailboxes" ("refilled_at")');
  }
}
