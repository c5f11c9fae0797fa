import { join } from 'node:path';
import type { Logger } from 'pino';
import { fileMailer } from '../../adapters/mailer/files.ts';
import { smtpMailer } from '../../adapters/mailer/smtp.ts';
import { systemReason } from '../../adapters/redaction/system-reason.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { Config } from '../config.ts';
import { keepPrivate } from '../data-dir/private-data.ts';

/**
 * The mailer that the configuration selects; `null` without mail. Connects to nothing yet. Outside production, mail that is not
 * sent is written to files, and its links to the log.
 * @throws Error that names DATA_DIR and the system's reason.
 */
export const openMailer = (
  { mail, dataDir }: Pick<Config, 'mail' | 'dataDir'>,
  logger: Pick<Logger, 'info'>,
): Mailer | null => {
  if (mail === null) return null;
  const { url, from, requireTls } = mail;
  if (url !== null) return smtpMailer({ url, from, requireTls });
  keepMailPrivate(dataDir);
  const onWritten = (path: string, links: readonly string[]) =>
    logger.info({ path, links }, 'A mail was written to a file');
  return fileMailer({ directory: join(dataDir, 'mail'), from, onWritten });
};

const keepMailPrivate = (dataDir: string): void => {
  try {
    keepPrivate(dataDir, 'mail');
  } catch (error) {
    throw new Error(`The mail in DATA_DIR cannot be protected: ${systemReason(error)}`);
  }
};
