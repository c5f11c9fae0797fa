import PostalMime from 'postal-mime';
import type { Received } from '../../contracts/mailer/store.ts';

/** Parses a message as a mail program does. @param recipients its recipients by SMTP, by default the addresses in its header To */
export const receivedFrom = async (raw: string | Buffer, recipients?: readonly string[]): Promise<Received> => {
  const { headers, subject = '', text = '', html = '', messageId = '', to = [] } = await PostalMime.parse(raw);
  const named = to.flatMap(({ address = '' }) => address);
  const lines = Map.groupBy(headers, ({ key }) => key);
  return {
    id: messageId,
    recipients: recipients ?? named,
    subject,
    text: text.trimEnd(),
    html: html.trimEnd(),
    headers: new Map([...lines].map(([name, all]) => [name, all.map(({ value }) => value)])),
  };
};
