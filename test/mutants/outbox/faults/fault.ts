import type { Outbox } from '../../../../src/application/ports/outbox.ts';
import { isRequest, type Message } from '../../../../src/domain/message.ts';
import type { Tables } from '../../memory/tables.ts';
import type { Faults as FaultsOf } from '../../records/in-memory.ts';

export type Faults = FaultsOf<Outbox>;

/** A row of the outbox in memory. */
export type Row = Message & { readonly nextAttemptAt: number; readonly isUnclaimedRequest: boolean };

export const rowsOf = (tables: Tables) => tables.open<Row>('outbox');

export const allIn = (tables: Tables): Row[] => [...rowsOf(tables).values()];

export const store = (tables: Tables, message: Message): void => {
  const row = { ...message, nextAttemptAt: message.createdAt, isUnclaimedRequest: isRequest(message) };
  rowsOf(tables).set(message.id, row);
};

export const isSame = (message: Message, added: Message): boolean =>
  message.kind === added.kind && message.to === added.to;

export const toMessage = ({ nextAttemptAt: _at, isUnclaimedRequest: _is, ...message }: Row): Message => message;

export const byDue = (a: Row, b: Row): number => a.nextAttemptAt - b.nextAttemptAt || (a.id < b.id ? -1 : 1);
