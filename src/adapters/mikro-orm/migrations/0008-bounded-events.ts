import { Migration } from '@mikro-orm/migrations';

/**
 * Log-ins of one device are counted by the hour, devices are found by a hash, and a user has a thousand events. Instances of the previous
 * version can still add events: theirs are not counted.
 */
export class BoundedEvents extends Migration {
  override up(): void {
    this.addSql('alter table "events" add column "logged_in_from" bigint null');
    this.addSql(`delete from "events" using (
        select "user_id", "id", row_number() over (partition by "user_id" order by "place", "id" desc) as "rank" from (
          select "user_id", "id", row_number() over (partition by "user_id", "kind", "reason" order by "id" desc) as "place" from "events"
        ) as "placed"
      ) as "ranked"
      where "events"."user_id" = "ranked"."user_id" and "events"."id" = "ranked"."id" and "ranked"."rank" > 1000`);
    // As new ones are cut, so that a device is still known. Longer ones of other characters than ASCII are rare.
    this.addSql('update "events" set "user_agent" = left("user_agent", 200) where length("user_agent") > 200');
    this.addSql('drop index "events_device_index"');
    this.addSql(`create unique index "events_device_key" on "events"
      ("user_id", (hashtextextended(coalesce("address", '') || ' ' || coalesce("user_agent", ''), 0)), "logged_in_from")`);
  }
}
