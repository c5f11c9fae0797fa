type Mailbox = { readonly name: string; readonly url: string; readonly domains: RegExp };

/** The most common mail providers of people. */
const MAILBOXES: readonly Mailbox[] = [
  { name: 'Gmail', url: 'https://mail.google.com/', domains: /^(?:gmail|googlemail)\.com$/ },
  { name: 'Outlook', url: 'https://outlook.live.com/', domains: /^(?:outlook|hotmail|live|msn)\.[a-z.]+$/ },
  { name: 'Yahoo', url: 'https://mail.yahoo.com/', domains: /^(?:yahoo|ymail)\.[a-z.]+$/ },
  { name: 'iCloud', url: 'https://www.icloud.com/mail', domains: /^(?:icloud|me|mac)\.com$/ },
  { name: 'Proton Mail', url: 'https://mail.proton.me/', domains: /^(?:proton\.me|protonmail\.com|pm\.me)$/ },
  { name: 'GMX', url: 'https://www.gmx.net/', domains: /^gmx\.(?:de|net|at|ch)$/ },
  { name: 'WEB.DE', url: 'https://web.de/', domains: /^web\.de$/ },
];

export const mailboxOf = (email: string): Mailbox | undefined => {
  const domain = email.replace(/^.*@/s, '').toLowerCase();
  return email.includes('@') ? MAILBOXES.find(({ domains }) => domains.test(domain)) : undefined;
};
