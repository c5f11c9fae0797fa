import { UsersAndSessions } from './0001-users-and-sessions.ts';

/** Every migration, oldest first. A name, once released, stays: databases remember it. */
export const MIGRATIONS = [{ name: '0001-users-and-sessions', class: UsersAndSessions }];
