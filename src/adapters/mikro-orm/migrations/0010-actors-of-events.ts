import { Migration } from '@mikro-orm/migrations';

/** Who caused an event with a command, and the events that wait to be logged by the service. Instances of the previous version know neither. */
export class ActorsOfEvents extends Migration {
  override up(): void {
    this.addSql('alter table "events" add column "actor" text null');
    this.addSql(`create table "operations" (
      "id" character(26) not null constraint "operations_pkey" primary key,
      "event" jsonb not null
    )`);
  }
}
