import type { Mail } from '../../src/application/ports/mailer.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { EMAIL_PATTERN } from '../../src/domain/user.ts';
import { describeMailer } from '../contracts/mailer.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';
import { arrivedFrom, mailStore, type Steps } from './mailer/correct.ts';

const AS_THEY_ARE = 'delivers the subject, the text and the HTML as they are, in any language';
const ALONE = 'delivers a mail to its address alone';
const WHOLE = 'keeps a long link in one piece';
const ID = 'carries the id of the mail, the same at every attempt';
const PROGRAM = 'declares that a program wrote the mail';
const NO_HEADER = 'lets no text become a header';
const NO_ADDRESS = 'refuses an address that is none, and sends nothing';
const MANY = 'delivers many mails that are sent at once';
const REFUSED = 'returns "refused" when the server refuses a mail for good';
const REJECTS = 'rejects when it cannot deliver now, and repeats neither the address nor the content';

describeMailer('the correct mailer', mailStore());

type Arrived = ReturnType<Steps['arrived']>[number];
const arriving = (change: (arrived: Arrived, mail: Mail) => Partial<Arrived>) =>
  mailStore({ arrived: (mail) => [{ ...arrivedFrom(mail), ...change(arrivedFrom(mail), mail) }] });
const withoutHeader = (headers: Arrived['headers'], name: string) =>
  new Map([...headers].filter(([each]) => each !== name));
const failing = (reason: (mail: Mail) => string, cause?: (mail: Mail) => unknown) =>
  mailStore({
    onFailure: (mail) => new AppError('SYS_UNEXPECTED_ERROR', { reason: reason(mail), cause: cause?.(mail) }),
  });

/** The fault of a mailer that writes headers itself. */
const injectable = (mail: Mail): Partial<Arrived> => {
  const lines = `Subject: ${mail.subject}`.split(/\r\n|\n/).map((line) => line.split(': '));
  return { headers: new Map(lines.map(([name = '', value = '']) => [name.toLowerCase(), [value]])) };
};

describeMutants((make: ReturnType<typeof mailStore>, suite) => describeMailer('a mutant', make, suite), {
  'knows ASCII alone': {
    make: arriving(({ text }) => ({ text: text.replaceAll(/[^\0-\x7f]/g, '?') })),
    caughtBy: AS_THEY_ARE,
  },
  'encodes a subject without decoding it': {
    make: arriving(({ subject }) => ({ subject: encodeURIComponent(subject) })),
    caughtBy: AS_THEY_ARE,
  },
  'escapes the HTML again': {
    make: arriving(({ html }) => ({ html: html.replaceAll('&', '&amp;') })),
    caughtBy: AS_THEY_ARE,
  },
  'sends the text alone': { make: arriving(() => ({ html: '' })), caughtBy: AS_THEY_ARE },
  'doubles dots at the start of lines': {
    make: arriving(({ text }) => ({ text: text.replaceAll(/^\./gm, '..') })),
    caughtBy: AS_THEY_ARE,
  },
  'ends at a line of one dot': {
    make: arriving(({ text }) => ({ text: text.split('\n.\n')[0] ?? '' })),
    caughtBy: AS_THEY_ARE,
  },
  'ends long subjects': { make: arriving(({ subject }) => ({ subject: subject.slice(0, 78) })), caughtBy: AS_THEY_ARE },
  'sends a copy to the sender': {
    make: arriving(({ recipients }) => ({ recipients: [...recipients, 'tandem@localhost'] })),
    caughtBy: ALONE,
  },
  'sends every mail to the first address': {
    make: () => {
      let first: string | undefined;
      return arriving((_arrived, { to }) => {
        first ??= to;
        return { recipients: [first] };
      })();
    },
    caughtBy: ALONE,
  },
  'wraps long lines': {
    make: arriving(({ text }) => ({ text: text.replaceAll(/.{998}/g, '$&\n') })),
    caughtBy: WHOLE,
  },
  'makes an id for every attempt': { make: arriving(() => ({ id: crypto.randomUUID() })), caughtBy: ID },
  'has one id for all mail': { make: arriving(() => ({ id: '01KAMA5A7000000000000000M1' })), caughtBy: ID },
  'does not say that a program wrote': {
    make: arriving(({ headers }) => ({ headers: withoutHeader(headers, 'auto-submitted') })),
    caughtBy: PROGRAM,
  },
  'writes a subject with its line breaks': {
    make: arriving((_arrived, mail) => injectable(mail)),
    caughtBy: NO_HEADER,
  },
  'takes Bcc from a text': {
    make: arriving((_arrived, { subject, to }) => ({
      recipients: [to, ...[...subject.matchAll(/Bcc: (\S+)/g)].map(([, address = '']) => address)],
    })),
    caughtBy: NO_HEADER,
  },
  'accepts any address': { make: mailStore({ isAddress: () => true }), caughtBy: NO_ADDRESS },
  'accepts a list of addresses': {
    make: mailStore({ isAddress: (to) => to.split(', ').every((each) => EMAIL_PATTERN.test(each)) }),
    caughtBy: NO_ADDRESS,
  },
  'loses mail that is sent while it sends': {
    make: mailStore({
      deliver: async (arrived, all) => {
        const before = [...all];
        await Promise.resolve();
        all.splice(0, all.length, ...before, arrived);
      },
    }),
    caughtBy: MANY,
  },
  'says that a refused mail was sent': { make: mailStore({ onRefusal: () => 'sent' }), caughtBy: REFUSED },
  'says nothing of a failure': { make: mailStore({ onFailure: () => null }), caughtBy: REJECTS },
  'passes on the error of its library': {
    make: mailStore({ onFailure: ({ to }) => new Error(`451 not for <${to}>`) }),
    caughtBy: REJECTS,
  },
  'quotes the server': { make: failing(({ to }) => `451 not for <${to}>`), caughtBy: REJECTS },
  'quotes the content': { make: failing(({ text }) => `could not send ${text}`), caughtBy: REJECTS },
  'has the error of its library as a cause': {
    make: failing(
      () => 'the server answered 451',
      ({ to }) => new Error(`451 not for <${to}>`),
    ),
    caughtBy: REJECTS,
  },
});
