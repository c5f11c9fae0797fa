import type { Logger } from 'pino';
import type { Stores } from '../../application/ports/unit-of-work.ts';
import type { Config } from '../config.ts';
import type { OwnPorts } from './own-parts.ts';
import type { Ports } from './ports.ts';

/** What is recorded about accounts, and how it is changed together with them. */
const RECORDS = ['events', 'links', 'outbox', 'unitOfWork'] as const;
const TOGETHER: readonly (keyof Stores | keyof Pick<Ports, 'unitOfWork'>)[] = ['users', 'sessions', ...RECORDS];

/** Whether events, links and messages are kept: not beside users of the caller's own, without a unit of work of the caller's. */
export const keepsRecordsOf = ({ users, unitOfWork }: OwnPorts): boolean =>
  users === undefined || unitOfWork !== undefined;

/** @throws Error that names the ports that are missing beside those that a caller brings. */
export const assertOwnStoresFit = (own: OwnPorts): void => {
  assertComplete(own);
  if ((own.users === undefined) === (own.sessions === undefined)) return;
  const [given, missing] = own.users === undefined ? ['sessions', 'users'] : ['users', 'sessions'];
  throw new Error(`ports.${given} needs ports.${missing}: sessions are stored with their users`);
};

/** With a part of them, the service would write to one store what it looks for in another. */
const assertComplete = (own: OwnPorts): void => {
  const given = RECORDS.find((name) => own[name] !== undefined);
  const missing = TOGETHER.filter((name) => own[name] === undefined);
  if (given === undefined || missing.length === 0) return;
  const names = missing.map((name) => `ports.${name}`).join(', ');
  throw new Error(
    `ports.${given} needs ${names}: users, sessions, events, links and messages are changed together, by ports.unitOfWork`,
  );
};

/** Mail is kept until it is sent, so there is none without records. */
export const warnOfUnusedMailer = ({ mail }: Pick<Config, 'mail'>, own: OwnPorts, logger: Logger): void => {
  if (keepsRecordsOf(own)) return;
  const given = own.mailer ? 'ports.mailer' : (mail?.url ?? null) === null ? null : 'MAIL_URL';
  if (given !== null) logger.warn(`${given} has no effect: beside ports.users, mail needs ports.unitOfWork`);
};
