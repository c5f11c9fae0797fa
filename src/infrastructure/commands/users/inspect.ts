import { decodeTime } from 'ulid';
import type { EventRepository } from '../../../application/ports/event-repository.ts';
import { accountData, userData } from '../../../application/steps/account-data.ts';
import { type EventData, eventPages, latestEvents } from '../../../application/steps/account-events.ts';
import { COUNTING_PERIOD } from '../../../domain/event.ts';
import type { User } from '../../../domain/user.ts';
import { type Answer, answer, jsonWithEvents } from './answer.ts';
import type { UserOptions } from './arguments.ts';
import type { Accounts } from './open-accounts.ts';
import { accountText, eventsText, usersTable } from './tables.ts';

/** The commands that only read. */
export const find = (found: User): Answer => {
  const user = userData(found);
  return answer({ user }, usersTable([user]));
};

export const show = async (accounts: Accounts, found: User): Promise<Answer> => {
  const data = await accountData(accounts, found, accounts.clock.now());
  return answer(data, accountText(data));
};

/** Always for programs. */
export const exported = async (accounts: Accounts, found: User): Promise<Answer> => {
  const data = await accountData(accounts, found, accounts.clock.now());
  return { json: jsonWithEvents(data, eventPages(accounts.events, found.id)), text: [] };
};

type EventsOptions = Pick<UserOptions, 'since' | 'until'>;

/** Without a range, the latest ones. */
export const events = async (
  { events: stored }: Pick<Accounts, 'events'>,
  { id: userId }: Pick<User, 'id'>,
  options: EventsOptions,
): Promise<Answer> => {
  if (options.since === null && options.until === null) return latest(stored, userId);
  const pages = inRange(eventPages(stored, userId), options);
  return { json: jsonWithEvents({ userId }, pages), text: eventsText(pages) };
};

const LATEST = 50;
const MORE = `These are the latest ${LATEST}. For older ones use --since or --until.\n`;

const latest = async (stored: EventRepository, userId: string): Promise<Answer> => {
  const found = await latestEvents(stored, userId, LATEST + 1);
  const listed = found.slice(0, LATEST);
  return {
    json: answer({ userId, events: listed }, '').json,
    text: eventsText([listed], found.length > LATEST ? MORE : ''),
  };
};

/** Reads no further than to the start of the range. */
const inRange = async function* (
  pages: AsyncIterable<EventData[]>,
  { since, until }: EventsOptions,
): AsyncGenerator<EventData[]> {
  for await (const page of pages) {
    yield page.filter(({ at }) => (since === null || at >= since) && (until === null || at <= until));
    const last = page.at(-1);
    // Log-ins and refused ones are added to an event that has the id of the first one.
    if (since !== null && last !== undefined && decodeTime(last.id) < since - COUNTING_PERIOD) return;
  }
};
