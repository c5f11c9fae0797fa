import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mikroOrmEventRepository } from '../../../src/adapters/event-repository/mikro-orm.ts';
import { mikroOrmLinkRepository } from '../../../src/adapters/link-repository/mikro-orm.ts';
import { mikroOrmOutbox } from '../../../src/adapters/outbox/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import type { EventRepository } from '../../../src/application/ports/event-repository.ts';
import type { LinkRepository } from '../../../src/application/ports/link-repository.ts';
import type { Outbox } from '../../../src/application/ports/outbox.ts';
import { EVENTS_KEPT } from '../../../src/domain/event.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { aMessage, anEvent, anId, aUser } from '../../support/builders.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { plansOf } from '../../support/storage/plans.ts';

const PURPOSES = ['password-reset', 'email-verification', 'not-me', 'email-change', 'email-change-undo'];
const KINDS = ['logged-in', 'session-ended', 'password-changed', 'login-refused'];
/** The browsers and networks of log-ins. */
const DEVICES = 100;

/**
 * Inserts as many events, links and messages. The oldest events are of one user, who has as many as are kept and has logged in on a few
 * devices; the time of row `n` is `n`.
 */
const fill = async ({ em }: Database, busy: string, rows: number): Promise<void> => {
  const users = rows / PURPOSES.length;
  await em.execute(
    `insert into users (id, username, username_canonical, email, password_hash, created_at, updated_at)
      select lpad(n::text, 26, '0'), 'u' || n, 'u' || n, n || '@example.org', '', 0, 0 from generate_series(0, ?::int - 1) n`,
    [users],
  );
  await em.execute(
    `insert into events (id, user_id, kind, at, refused_from, logged_in_from, user_agent, address)
      select lpad(n::text, 26, '0'), case when n <= ? then ? else lpad((n % ?)::text, 26, '0') end,
        kind, n, case when kind = 'login-refused' then n end, case when kind = 'logged-in' then n end, 'browser ' || n % ?, 'network ' || n % ?
      from generate_series(1, ?) n, lateral (select (string_to_array(?, ','))[1 + n % ?] as kind) k`,
    [EVENTS_KEPT, busy, users, DEVICES, DEVICES, rows, KINDS.join(), KINDS.length],
  );
  await em.execute(
    `insert into links (user_id, purpose, token_hash, email, created_at, expires_at)
      select lpad((n % ?)::text, 26, '0'), (string_to_array(?, ','))[1 + n / ?], 'hash ' || n, n || '@example.org', n, n
      from generate_series(0, ?::int - 1) n`,
    [users, PURPOSES.join(), users, rows],
  );
  await em.execute(
    `insert into outbox (id, kind, user_id, "to", origin, created_at, next_attempt_at, waiting_request)
      select lpad(n::text, 26, '0'), 'password-changed', lpad((n % ?)::text, 26, '0'), n || '@example.org', '{}', n, n,
        case when n % 1000 = 0 then 'password-reset-request ' || n end
      from generate_series(1, ?) n`,
    [users, rows],
  );
  await em.execute('vacuum analyze');
};

type Context = {
  readonly events: EventRepository;
  readonly links: LinkRepository;
  readonly outbox: Outbox;
  /** The user with the most events. */
  readonly busy: string;
};

const HASH = 'hash 77';
const SOME_USER = '7'.padStart(26, '0');

/** Those that begin with the user, who has a thousand events at most. */
const OF_ONE_USER = '(events_pkey|events_device_key|events_user_id_refused_from_key)';

/** What requests and the background do, each with the index that it must use. */
const WORK: Readonly<Record<string, [index: string, work: (context: Context) => Promise<unknown>]>> = {
  'listing the latest events of a user': [
    OF_ONE_USER,
    ({ events, busy }) => events.list({ userId: busy, before: null, limit: 1_000 }),
  ],
  'continuing a list of events': [
    'events_pkey',
    ({ events, busy }) => events.list({ userId: busy, before: '9999'.padStart(26, '0'), limit: 100 }),
  ],
  'looking for a device of a user': [
    'events_device_key',
    ({ events, busy }) => events.knowsDevice(busy, { userAgent: 'browser 0', address: 'network 0' }),
  ],
  'looking for another browser': [
    'events_device_key',
    ({ events, busy }) => events.knowsDevice(busy, { userAgent: 'another', address: 'network 0' }),
  ],
  'looking for a device without a name': [
    'events_device_key',
    ({ events, busy }) => events.knowsDevice(busy, { userAgent: null, address: null }),
  ],
  'counting the latest events of a kind': [
    OF_ONE_USER,
    ({ events, busy }) => events.countSince(busy, 'email-changed', 0),
  ],
  'adding a log-in': [
    OF_ONE_USER,
    ({ events, busy }) => events.add([anEvent({ userId: busy, kind: 'logged-in', address: 'network 0' })]),
  ],
  'adding refused log-ins': [
    'users_pkey',
    ({ events, busy }) => events.addRefusedLogins([{ ...anEvent(), userId: busy, count: 1 }]),
  ],
  'purging events': ['events_at_index', ({ events }) => events.purge(1_000, 1_000)],
  'finding a link': ['links_token_hash_key', ({ links }) => links.find('password-reset', HASH, 0)],
  'taking a link': ['links_token_hash_key', ({ links }) => links.take('password-reset', HASH, 0)],
  'listing the links about an address': [
    'links_email_index',
    ({ links }) => links.listByEmail('password-reset', '77@example.org', 0),
  ],
  'listing the links of a user': ['links_pkey', ({ links }) => links.listByUser(SOME_USER, 0)],
  'removing links of a user': ['links_pkey', ({ links }) => links.removeOfUser(SOME_USER, ['password-reset'])],
  'purging links': ['links_expires_at_index', ({ links }) => links.purge(1_000, 1_000)],
  'adding a request': [
    'outbox_waiting_request_key',
    ({ outbox }) => outbox.add([aMessage({ kind: 'password-reset-request', userId: null })]),
  ],
  'claiming messages': [
    'outbox_next_attempt_at_index',
    ({ outbox }) => outbox.claim({ now: 10_000, until: 20_000, limit: 100 }),
  ],
  'naming the user of a message': [
    'outbox_pkey',
    ({ outbox }) => outbox.identify(anId(), { kind: 'password-reset', userId: SOME_USER }),
  ],
  'postponing a message': ['outbox_pkey', ({ outbox }) => outbox.postpone(anId(), 0)],
  'removing messages': ['outbox_pkey', ({ outbox }) => outbox.remove([anId(), anId()])],
  'listing the messages about a user': ['outbox_user_id_index', ({ outbox }) => outbox.listByUser(SOME_USER)],
};

/** Pages of 8 KiB that a read needs at most, however many rows there are; a thousand events fill some hundred. */
const MOST_PAGES = 1_200;

const describePlans = (name: string, open: () => Promise<Database>, rows: number) =>
  describe(`on ${name}, among ${rows} events, links and messages`, () => {
    let database: Database;
    const busy = aUser();
    beforeAll(async () => {
      database = await open();
      await mikroOrmUserRepository(database).add(busy);
      await fill(database, busy.id, rows);
    });
    afterAll(() => database?.close());

    const plansFor = (work: (context: Context) => Promise<unknown>) =>
      plansOf(database.em, (em) =>
        work({
          events: mikroOrmEventRepository({ em }),
          links: mikroOrmLinkRepository({ em }),
          outbox: mikroOrmOutbox({ em }),
          busy: busy.id,
        }),
      );

    it.each(Object.entries(WORK))('%s uses an index and scans no table', async (_what, [index, work]) => {
      const plans = await plansFor(work);
      const scans = plans.flatMap((plan) => plan.scans);
      expect(scans.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
      expect(scans).toContainEqual(expect.stringMatching(`^(Index|Bitmap Index|Index Only) Scan ${index}$`));
      for (const { pages } of plans) expect(pages ?? 0).toBeLessThan(MOST_PAGES);
    });
  });

describePlans('PGlite', openEmbedded, 20_000);
const server = TEST_DATABASE_URL;
if (server !== undefined) describePlans('PostgreSQL', () => openOnPostgresql(server), 100_000);
