import { describe, expect, it } from 'vitest';
import {
  addressTaken,
  confirmEmailChange,
  emailChanged,
  emailChangeFinal,
  emailChangeUndone,
  verifyEmail,
} from '../../../src/application/mail/address-mails.ts';
import type { MailContext, MailText } from '../../../src/application/mail/layout.ts';
import { noticeMail, passwordReset, passwordWasReset } from '../../../src/application/mail/security-mails.ts';

const SERVICE = { serviceName: 'auth.example.com', pagesUrl: 'https://auth.example.com/account' };
const TOKEN = 'aB3-_'.repeat(9);
const link = (page: string) => `https://auth.example.com/account/${page}?a=1&b="2"#token=${TOKEN}`;
const HOUR = 3_600_000;

/** What a client chooses. */
type Chosen = { readonly username: string; readonly email: string; readonly userAgent: string | null };

const USUAL: Chosen = { username: 'ann', email: 'bob@example.org', userAgent: 'Firefox/119.0' };
const HOSTILE: readonly Chosen[] = [
  'http://evil.example/marker',
  'Visit evil.example marker',
  '"><a href="https://evil.example">marker</a><img src=x onerror=alert(1)>',
  "' onmouseover='marker' <script>marker</script> &lt;b&gt; `marker`",
  'marker\r\nBcc: eve@evil.example\r\n\r\nA new body',
  'marker\u202e\u200b.example\0\x1b]8;;http://evil.example\x07',
  `marker${'x'.repeat(5_000)}`,
  `marker ${'word '.repeat(2_000)}`,
  '{{marker}} %marker% =?utf-8?q?marker?=',
].map((text) => ({ username: text, email: `${text}@evil.example`, userAgent: text }));

const happened = ({ userAgent }: Chosen) => ({
  at: Date.UTC(2026, 10, 22, 8, 5),
  device: { userAgent, address: userAgent === null ? null : '203.0.113.0/24' },
});

type Case = {
  readonly make: (context: MailContext, chosen: Chosen) => MailText;
  readonly links: readonly string[];
  readonly says: readonly string[];
};

const RESET = link('password-reset');
const CONFIRM = link('email-verification');
const DISOWN = link('not-me');
const CHANGE = link('email-change');
const UNDO = link('email-change-undo');
/** Where everybody can ask for the link of a reset. */
const RESET_PAGE = 'https://auth.example.com/account/password-reset';
const FACTS = ['22 November 2026, 08:05 UTC', 'Firefox/119.0', '203.0.113.0/24'];

const MAILS: Readonly<Record<string, Case>> = {
  passwordReset: {
    make: (context) => passwordReset(context, { link: RESET, validFor: HOUR / 2 }),
    links: [RESET],
    says: ['30 minutes', 'If it was not you, you can ignore this message'],
  },
  verifyEmail: {
    make: (context, { username }) =>
      verifyEmail(context, { username, confirmLink: CONFIRM, disownLink: DISOWN, validFor: 24 * HOUR }),
    links: [CONFIRM, DISOWN],
    says: ['"ann"', '1 day', 'If you did not register'],
  },
  addressTaken: {
    make: (context) => addressTaken(context),
    links: [RESET_PAGE],
    says: ['log in', 'If it was not you'],
  },
  confirmEmailChange: {
    make: (context, { username }) => confirmEmailChange(context, { username, link: CHANGE, validFor: 24 * HOUR }),
    links: [CHANGE],
    says: ['"ann"', '1 day', 'If it is not your account'],
  },
  emailChanged: {
    make: (context, { username, email: newEmail }) =>
      emailChanged(context, { username, newEmail, undoLink: UNDO, undoFor: 7 * 24 * HOUR }),
    links: [UNDO],
    says: ['"ann"', 'b***[@]example[.]org', '7 days', 'If it was not you'],
  },
  emailChangeFinal: {
    make: (context, { username }) => emailChangeFinal(context, { username, undoUntil: Date.UTC(2026, 10, 22, 8, 5) }),
    links: [],
    says: ['"ann"', '22 November 2026, 08:05 UTC'],
  },
  emailChangeUndone: {
    make: (context, { username }) => emailChangeUndone(context, { username }),
    links: [RESET_PAGE],
    says: ['"ann"'],
  },
  passwordChanged: {
    make: (context, chosen) => noticeMail(context, 'password-changed', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you'],
  },
  passwordWasReset: {
    make: (context, chosen) => passwordWasReset(context, happened(chosen), { passkeys: [], apps: 0 }),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was you, you have nothing to do', 'If it was not you'],
  },
  passwordWasResetWithFactorsLeft: {
    make: (context, chosen) =>
      passwordWasReset(context, happened(chosen), { passkeys: ['A phone', chosen.username], apps: 2 }),
    links: [RESET_PAGE],
    says: [
      ...FACTS,
      'Passkey: "A phone"',
      'Passkey: "ann"',
      'Authenticator apps: 2',
      'remove them',
      'If it was not you',
    ],
  },
  newDevice: {
    make: (context, chosen) => noticeMail(context, 'new-device', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you'],
  },
  tokenReplayed: {
    make: (context, chosen) => noticeMail(context, 'token-replayed', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'log in again', 'connection'],
  },
  passkeyAdded: {
    make: (context, chosen) => noticeMail(context, 'passkey-added', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you', 'remove the passkey'],
  },
  passkeyRemoved: {
    make: (context, chosen) => noticeMail(context, 'passkey-removed', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you'],
  },
  passkeyCopySuspected: {
    make: (context, chosen) => noticeMail(context, 'passkey-copy-suspected', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'not your device', 'remove this passkey'],
  },
  secondFactorAdded: {
    make: (context, chosen) => noticeMail(context, 'second-factor-added', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you', 'remove the app'],
  },
  secondFactorRemoved: {
    make: (context, chosen) => noticeMail(context, 'second-factor-removed', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you', 'the password alone'],
  },
  recoveryCodeUsed: {
    make: (context, chosen) => noticeMail(context, 'recovery-code-used', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you', 'make new recovery codes'],
  },
  recoveryCodesMade: {
    make: (context, chosen) => noticeMail(context, 'recovery-codes-made', happened(chosen)),
    links: [RESET_PAGE],
    says: [...FACTS, 'If it was not you', 'make new recovery codes'],
  },
};

const unescaped = (markup: string): string =>
  markup.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
/** The tags, which what a client chooses must not change. */
const tagsOf = (markup: string): string[] => markup.match(/<[^>]*>/g) ?? [];
const hrefsOf = (markup: string): string[] =>
  [...markup.matchAll(/ href="([^"]*)"/g)].map(([, address = '']) => unescaped(address));
const wordsOf = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe.each(Object.entries(MAILS))('the mail %s', (_name, { make, links, says }) => {
  const usual = make(SERVICE, USUAL);

  it('says in text and in HTML what has happened, at which service, and what to do', () => {
    const shown = wordsOf(unescaped(usual.html.replaceAll(/<[^>]*>/g, ' ')));
    for (const words of [...says, 'auth.example.com']) {
      expect(wordsOf(usual.text)).toContain(words);
      expect(shown).toContain(words);
    }
    expect(usual.subject).toContain('auth.example.com');
  });

  it('has its links and no other, in text on lines of their own', () => {
    expect(hrefsOf(usual.html)).toEqual(links);
    expect(usual.text.split('\n').filter((line) => line.includes('://'))).toEqual(links);
  });

  // Proves: mail-2
  it('is not changed by what clients choose, except for the words', () => {
    for (const chosen of HOSTILE) {
      const mail = make(SERVICE, chosen);
      expect(mail.subject).toBe(usual.subject);
      expect(tagsOf(mail.html)).toEqual(tagsOf(usual.html));
      expect(hrefsOf(mail.html)).toEqual(links);
      const words = [...links, 'auth.example.com'].reduce((text, ours) => text.replaceAll(ours, ''), mail.text);
      expect(words).not.toMatch(/\p{L}\.\p{L}|:\/\/|\w@\w|[^\P{C}\n]/u);
      expect(mail.text.length).toBeLessThan(usual.text.length + 1_000);
    }
  });

  it('has lines of 78 characters at most, except for links', () => {
    for (const chosen of [USUAL, ...HOSTILE]) {
      const lines = make(SERVICE, chosen).text.split('\n');
      expect(lines.filter((line) => line.length > 78 && !links.includes(line))).toEqual([]);
    }
  });

  it('depends on its arguments alone', () => {
    expect(make(SERVICE, USUAL)).toEqual(usual);
    expect(make({ serviceName: 'login.example.net', pagesUrl: 'https://login.example.net' }, USUAL).text).not.toContain(
      'auth.example.com ',
    );
  });
});

describe('a notice', () => {
  it('says so when the device or the network is unknown', () => {
    const { text } = noticeMail(SERVICE, 'new-device', happened({ ...USUAL, userAgent: null }));
    expect(text).toContain('\nDevice: unknown\nNetwork: unknown\n');
  });
});

describe('a changed address', () => {
  it('is not shown to the former one', () => {
    const { text, html } = MAILS.emailChanged?.make(SERVICE, { ...USUAL, email: 'bob.secret@example.org' }) ?? {};
    expect(text).toContain('b***[@]example[.]org');
    for (const part of [text, html]) expect(part).not.toContain('secret');
  });
});
