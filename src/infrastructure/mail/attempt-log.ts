import type { Logger } from 'pino';
import type { SendMessagesDeps } from '../../application/use-cases/send-messages.ts';

type OnAttempt = NonNullable<SendMessagesDeps['onAttempt']>;

/** Logs what becomes of messages, without their addresses. While nothing can be delivered, the first failure alone is a warning. */
export const attemptLog = (logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>): OnAttempt => {
  let isFailing = false;
  return (outcome, { id, kind, userId, attempts }, err) => {
    const message = { message: { id, kind, userId, attempts } };
    if (outcome === 'given-up') logger.error({ ...message, err }, 'a mail could not be sent and is given up');
    else if (outcome === 'refused') logger.warn(message, 'the mail server refused a mail for good');
    else if (outcome === 'dropped') logger.debug(message, 'a mail was dropped: out of date, or one too many');
    else if (outcome === 'failed') {
      logger[isFailing ? 'debug' : 'warn']({ ...message, err }, 'a mail could not be sent and is tried again');
      isFailing = true;
    } else {
      if (isFailing) logger.info('mail can be sent again');
      isFailing = false;
      logger.debug(message, 'a mail was sent');
    }
  };
};
