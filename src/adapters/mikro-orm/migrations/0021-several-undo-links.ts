import { Migration } from '@mikro-orm/migrations';

/**
 * From when on a link undoes changes: a user may have several. Instances of the previous version cannot store links until they are replaced:
 * mail with a link waits, and a change of the address fails.
 */
export class SeveralUndoLinks extends Migration {
  override up(): void {
    this.addSql('alter table "links" add column "since" bigint not null default 0');
    this.addSql('alter table "links" drop constraint "links_pkey"');
    this.addSql('alter table "links" add constraint "links_pkey" primary key ("user_id", "purpose", "since")');
  }
}
