import type { Notice } from '../domain/message.ts';
import type { RecordDeps } from './record.ts';

export type NoticeDeps = RecordDeps & {
  /** The notices that are sent by mail; none without mail. */
  readonly notices?: ReadonlySet<Notice> | undefined;
};

export const sendsNotice = ({ notices }: Pick<NoticeDeps, 'notices'>, notice: Notice): boolean =>
  notices?.has(notice) ?? false;

/** The most notices of one kind that a user gets in an hour: an attacker with the password could cause any number. */
export const NOTICES_PER_HOUR = 5;
/** Milliseconds. */
export const HOUR = 3_600_000;
/** How many of the latest events of a user decide about a notice. */
export const LATEST_EVENTS = 200;
