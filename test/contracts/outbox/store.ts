import type { Outbox } from '../../../src/application/ports/outbox.ts';
import type { Message } from '../../../src/domain/message.ts';
import { aMessage, anId, NOW } from '../../support/builders.ts';
import type { GivenRecords, RecordsStore } from '../records/store.ts';

export type OutboxStore = RecordsStore<Outbox>;
export type GivenMessages = GivenRecords<Outbox>;

export const LEASE = 60_000;
export const ORIGIN = { requestId: anId(), userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };

/** A request of somebody who is not logged in. */
export const aRequest = (given: Partial<Message> = {}): Message =>
  aMessage({ kind: 'password-reset-request', userId: null, ...given });
export const claim = (outbox: Outbox, now = NOW, limit = 100): Promise<Message[]> =>
  outbox.claim({ now, until: now + LEASE, limit });
export const idsOf = (messages: readonly Message[]): string[] => messages.map(({ id }) => id).sort();
export const series = (userId: string, count: number): Message[] =>
  Array.from({ length: count }, (_, at) => aMessage({ userId, createdAt: NOW + at }));
