import { Migration } from '@mikro-orm/migrations';

/** When the user of a session has last shown what they know, and what they have: without a default, so that no row is rewritten. */
export class TimesOfFactors extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "known_at" bigint null, add column "held_at" bigint null');
  }
}
