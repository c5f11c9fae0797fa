import type { Mail, Mailer } from '../../../src/application/ports/mailer.ts';
import { type Absent, offered } from '../hooks.ts';
import type { Run } from '../suite.ts';

/** A mail as it arrived. */
export type Received = {
  readonly id: string;
  /** To whom it was delivered. */
  readonly recipients: readonly string[];
  readonly subject: string;
  /** With any line breaks, and without those at the end. */
  readonly text: string;
  readonly html: string;
  /** The values of each header, by its name in lower case. */
  readonly headers: ReadonlyMap<string, readonly string[]> | Absent;
};

/** An adapter under test, and what the contract does with its mail. A hook that cannot be offered is `absent(why)`. */
export type MailStore = {
  readonly mailer: Mailer;
  /** Everything that was delivered, in order. */
  readonly received: () => Promise<readonly Received[]>;
  /** Opens an instance whose server refuses every address for good, and repeats it in its answer. */
  readonly refusing: (() => Promise<Mailer>) | Absent;
  /** Opens an instance that cannot deliver now, since its server, for instance, answers so and repeats the address. */
  readonly failing: (() => Promise<Mailer>) | Absent;
  readonly close?: () => Promise<void>;
};

export const MAIL: Mail = {
  id: '01KAMA5A7000000000000000M1',
  to: 'ann.o-neil+tandem@mail.example.com',
  subject: 'A subject',
  text: 'A text.',
  html: '<!doctype html><html lang="en"><body><p>A text.</p></body></html>',
};

export const givenMailer = async (make: () => Promise<MailStore>, run: Run) => {
  const store = await make();
  return {
    store,
    close: async () => store.close?.(),
    mailer: store.mailer,
    received: store.received,
    hook: (name: 'refusing' | 'failing') => offered<() => Promise<Mailer>>(store[name], run),
    headersOf: ({ headers }: Received) => offered<ReadonlyMap<string, readonly string[]>>(headers, run),
  };
};
