export type Mail = {
  /** The same at every attempt, so that mail servers and mail programs can recognize a second copy. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

export type Delivery = 'sent' | 'refused';

/**
 * Sends mail. A mail whose `send` rejected may still have been delivered: the server's reply may have been lost.
 * - delivers the subject, the text and the HTML as they are, in any language
 * - delivers a mail to its address alone
 * - keeps a long link in one piece
 * - carries the id of the mail, the same at every attempt
 * - declares that a program wrote the mail
 * - lets no text become a header
 * - refuses an address that is none, and sends nothing
 * - delivers many mails that are sent at once
 * - returns "refused" when the server refuses a mail for good
 * - rejects when it cannot deliver now, and quotes neither the address nor the content
 */
export interface Mailer {
  /**
   * @returns `refused` when this mail or its address will never be accepted, so that another attempt is pointless.
   * @throws AppError SYS_UNEXPECTED_ERROR with a reason, when the mail could not be delivered now.
   */
  send(mail: Mail): Promise<Delivery>;
  /** Ends the attempts in progress, which reject. Called when the service stops and they last for too long. */
  close?(): void;
}
