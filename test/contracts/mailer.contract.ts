import { inspect } from 'node:util';
import { expect } from 'vitest';
import { rejection } from './hooks.ts';
import { givenMailer, MAIL, type MailStore } from './mailer/store.ts';
import { prepared, vitestSuite } from './suite.ts';

/** Long, and with what encodings of mail change: `=`, a dot and `From` at the start of a line, spaces at the end of one. */
const TEXTS = [
  'Grüße, 你好, привет, 👋 — “quoted” & <b>bold</b> = 100%',
  'a=b\n.\n..dots\n.\nFrom me\n  indented \n\n-- \nlast',
  `${'word '.repeat(400)}end`,
  'x'.repeat(3_000),
];
/** Not one address. */
const NO_ADDRESSES = [
  ...['', 'ann', 'ann@example.com, bob@example.com', 'Ann <ann@example.com>', '<ann@example.com>'],
  ...['ann@example.com bob@example.com', 'ann@example.com\r\nRCPT TO:<bob@example.com>'],
  ...['ann@example.com\nBcc: bob@example.com', 'ann@example.com\0', `${'a'.repeat(65)}@example.com`],
];
const LINK = `https://example.com/account/password-reset#token=${'a1-_'.repeat(488)}`;

const unixLines = (text: string): string => text.replaceAll('\r\n', '\n');

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an adapter that has delivered nothing, for each test anew.
 */
export const describeMailer = (name: string, make: () => Promise<MailStore>, suite = vitestSuite): void => {
  const { it, describe } = prepared(suite, (run) => givenMailer(make, run));
  describe(`${name} as a Mailer`, () => {
    it('delivers the subject, the text and the HTML as they are, in any language', async ({ mailer, received }) => {
      for (const text of TEXTS) {
        const mail = {
          ...MAIL,
          subject: text.replaceAll('\n', '|').slice(0, 300).trim(),
          text,
          html: `<p>${text}</p>`,
        };
        expect(await mailer.send(mail)).toBe('sent');
        const { subject, text: itsText, html } = (await received()).at(-1) ?? {};
        expect(subject).toBe(mail.subject);
        expect(unixLines(itsText ?? '')).toBe(mail.text);
        expect(unixLines(html ?? '')).toBe(mail.html);
      }
    });

    it('delivers a mail to its address alone', async ({ mailer, received }) => {
      await mailer.send(MAIL);
      await mailer.send({ ...MAIL, to: 'bob@example.com' });
      expect((await received()).map(({ recipients }) => recipients)).toEqual([[MAIL.to], ['bob@example.com']]);
    });

    it('keeps a long link in one piece', async ({ mailer, received }) => {
      await mailer.send({ ...MAIL, text: `Open it:\n\n${LINK}\n`, html: `<a href="${LINK}">Open it</a>` });
      const [mail] = await received();
      expect(unixLines(mail?.text ?? '').split('\n')).toContain(LINK);
      expect(mail?.html).toContain(`href="${LINK}"`);
    });

    it('carries the id of the mail, the same at every attempt', async ({ mailer, received }) => {
      await mailer.send(MAIL);
      await mailer.send({ ...MAIL, id: '01KAMA5A7000000000000000M2' });
      await mailer.send(MAIL);
      const [first, other, again] = (await received()).map(({ id }) => id);
      expect(first).toContain(MAIL.id);
      expect(again).toBe(first);
      expect(other).not.toBe(first);
    });

    it('declares that a program wrote the mail', async ({ mailer, received, headersOf }) => {
      await mailer.send(MAIL);
      for (const mail of await received()) expect(headersOf(mail).get('auto-submitted')).toEqual(['auto-generated']);
      expect(await received()).toHaveLength(1);
    });

    it('lets no text become a header', async ({ mailer, received, headersOf }) => {
      const injected = ['X-Injected: 1', 'Bcc: eve@example.com', '', 'X-Injected: 2'];
      for (const [at, lineBreak] of ['\r\n', '\n', '\r'].entries()) {
        const text = `A${lineBreak}${injected.join(lineBreak)}`;
        await mailer.send({ ...MAIL, id: `${at}${text}`, subject: text, text, html: text });
      }
      const mails = await received();
      expect(mails).toHaveLength(3);
      for (const mail of mails) {
        expect(mail.recipients).toEqual([MAIL.to]);
        const headers = headersOf(mail);
        for (const name of ['x-injected', 'bcc']) expect(headers.get(name)).toBeUndefined();
        for (const value of [...headers.values()].flat()) expect(value).not.toMatch(/[\r\n]/);
      }
    });

    it('refuses an address that is none, and sends nothing', async ({ mailer, received }) => {
      for (const to of NO_ADDRESSES) expect(await mailer.send({ ...MAIL, to }), to).toBe('refused');
      expect(await received()).toEqual([]);
    });

    it('delivers many mails that are sent at once', async ({ mailer, received }) => {
      const mails = Array.from({ length: 20 }, (_, at) => ({ ...MAIL, id: `M${at}`, to: `user${at}@example.com` }));
      expect(await Promise.all(mails.map((mail) => mailer.send(mail)))).toEqual(mails.map(() => 'sent'));
      const recipients = (await received()).flatMap((mail) => mail.recipients);
      expect(recipients.sort()).toEqual(mails.map(({ to }) => to).sort());
    });

    it('returns "refused" when the server refuses a mail for good', async ({ hook, received }) => {
      const mailer = await hook('refusing')();
      expect(await mailer.send(MAIL)).toBe('refused');
      expect(await received()).toEqual([]);
    });

    it('rejects when it cannot deliver now, and quotes neither the address nor the content', async ({ hook }) => {
      const mailer = await hook('failing')();
      const mail = { ...MAIL, subject: 'marker1', text: `marker2 ${LINK}`, html: '<p>marker3</p>' };
      const error = await rejection(mailer.send(mail));
      expect(error).toMatchObject({ name: 'AppError', code: 'SYS_UNEXPECTED_ERROR', cause: undefined });
      expect(error).toHaveProperty('reason', expect.stringMatching(/\w/));
      const shown = inspect(error, { depth: null, showHidden: true });
      for (const secret of [MAIL.to, 'ann.o-neil', 'marker', LINK.slice(0, 40)]) expect(shown).not.toContain(secret);
    });
  });
};
