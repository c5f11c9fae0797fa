import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemReason } from '../../adapters/redaction/redact-error.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { Config } from '../config.ts';
import { keepPrivate } from '../data-dir/private-data.ts';

/**
 * The mailer of the configuration; `null` without mail. It connects when it sends. Without MAIL_URL outside production, mail is written to
 * files, and its links to the log.
 * @throws Error that names DATA_DIR and the system's reason.
 */
export const openMailer = async (
  { mail, dataDir }: Pick<Config, 'mail' | 'dataDir'>,
  logger: Pick<Logger, 'info'>,
): Promise<Mailer | null> => {
  if (mail === null) return null;
  const { url, from, requireTls } = mail;
  if (url !== null) return (await import('../../adapters/mailer/smtp.ts')).smtpMailer({ url, from, requireTls });
  keepMailPrivate(dataDir);
  const { fileMailer } = await import('../../adapters/mailer/files.ts');
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
