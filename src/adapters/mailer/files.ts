import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mail, Mailer } from '../../application/ports/mailer.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { systemClock } from '../clock/system.ts';
import { isAddress, messageOf, safeId } from './message.ts';
import { failureCodes } from './smtp.ts';

type FileOptions = {
  /** Created if it does not exist, and then accessible to its owner alone. */
  readonly directory: string;
  readonly from: string;
  readonly onWritten?: (path: string, links: readonly string[]) => void;
};

/** Writes each mail to a file `.eml` instead of sending it. */
export const fileMailer = ({ directory, from, onWritten }: FileOptions): Mailer => {
  let lastTime = 0;
  return {
    send: async (mail) => {
      if (!isAddress(mail.to)) return 'refused';
      // Each mail of a process has a millisecond of its own, so that the names stand in the order of the mails.
      lastTime = Math.max(systemClock.now(), lastTime + 1);
      const path = join(directory, `${new Date(lastTime).toISOString().replaceAll(':', '-')}-${safeId(mail)}.eml`);
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await writeFile(path, await writeMessage(mail, from), { mode: 0o600, flag: 'wx' });
      } catch (error) {
        // The error is not passed on, since its message contains the path.
        throw new AppError('SYS_UNEXPECTED_ERROR', { reason: `The mail was not written: ${failureCodes(error)}` });
      }
      onWritten?.(path, mail.text.match(/https?:\/\/\S+/g) ?? []);
      return 'sent';
    },
  };
};

const writeMessage = async (mail: Mail, from: string): Promise<Buffer> => {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message } = await transport.sendMail(messageOf(mail, from));
  // With the option `buffer`, `message` is a Buffer.
  return message as Buffer;
};
