import type { Ended } from '../../domain/ended-session.ts';

/**
 * What ended within one lifetime of an access token, for services that verify access tokens offline (ADR 0029). `EventRepository.add` adds
 * what the events say.
 * - lists what has ended since a time, the latest first, at most as many as it is asked to
 * - has what events say of sessions that ended early and of users who were disabled or deleted, and nothing of others
 * - keeps it when its user is deleted
 * - purges what ended until a time, at most as many as it is asked to
 */
export interface EndedSessions {
  add(ended: Ended): Promise<void>;
  list(since: number, limit: number): Promise<Ended[]>;
  purge(until: number, limit: number): Promise<number>;
}
