import { type Form, PAGES, type Page, type PageName } from '../../../adapters/http/forms/flow.ts';
import type { Payloads } from '../../../adapters/http/forms/page-facts.ts';
import type { PageContent } from '../../../adapters/http/forms/page-routes.ts';
import type { PageState } from '../../../adapters/http/forms/page-state.ts';
import type { PageView } from '../../../adapters/http/pages/page-view.ts';
import { type MailValue, maskedAddress } from '../../../application/mail/write-mail.ts';
import type { MailName } from '../../../domain/event-table.ts';
import { EMAIL_LINK_LIFETIME, UNDO_LIFETIME } from '../../../domain/link.ts';

export type View = Omit<PageContent, 'to' | 'target'> &
  Pick<PageView, 'mayRegister' | 'passwords'> & { readonly state: PageState | null; readonly title: string };

export const NOW = Date.UTC(2026, 10, 22, 8, 5);
const user = {
  ...{ id: '1', username: 'ada', email: 'ada@example.com', emailVerified: true },
  ...{ createdAt: NOW, updatedAt: NOW, attributes: {}, locale: null },
};
const session = {
  ...{ createdAt: NOW, lastUsedAt: NOW, userAgent: null, address: null },
  ...{ binding: 'none' as const, current: false, remembered: false },
};
const passkey = { credentialId: '', aaguid: '', synced: false, backedUp: false, createdAt: NOW, lastUsedAt: null };
const event = {
  ...{ count: 1, deviceName: 'Firefox 153 on Linux', userAgent: null, address: null },
  ...{ sessionId: null, reason: null, method: null, requestId: null, actor: null },
};

const EMPTY: Partial<Payloads> = {
  'current-user': { ...user, secondFactor: false, passkeys: 0, hasPassword: false, missing: null },
  sessions: [{ ...session, id: '1', name: 'Firefox 153 on Linux', current: true }],
  factors: { passkeys: [], totp: [], recoveryCodes: 0 },
  events: { events: [], next: null },
  'pending-login': { methods: [], enrol: true, expiresAt: NOW, passkey: null },
  identities: [],
};
const FULL: Partial<Payloads> = {
  'current-user': { ...user, secondFactor: true, passkeys: 2, hasPassword: true, missing: null },
  sessions: [
    { ...session, id: '1', name: 'Firefox 153 on Linux', current: true, binding: 'device' },
    { ...session, id: '2', name: 'Safari 27 on iPhone', remembered: true },
    { ...session, id: '3', name: null },
  ],
  factors: {
    passkeys: ['Phone', 'Key ring'].map((name, at) => ({ ...passkey, id: `${at}`, name })),
    totp: [{ id: '3', createdAt: NOW }],
    recoveryCodes: 7,
  },
  identities: [{ id: '5', provider: 'example', email: user.email, createdAt: NOW, lastUsedAt: NOW }],
  events: {
    events: (['logged-in', 'password-changed', 'registered'] as const).map((kind, at) => ({
      ...event,
      id: `${at}`,
      kind,
      note: at === 0 ? 'The laptop was reported stolen.' : null,
      at: NOW - at * 86_400_000,
    })),
    next: '2',
  },
  'pending-login': { methods: ['totp', 'recovery-code', 'passkey'], enrol: false, expiresAt: NOW, passkey: null },
};

const SHOWN_ONCE: Readonly<Record<string, object>> = {
  recoveryCodes: { recoveryCodes: Array.from({ length: 10 }, (_, at) => `ABCD-EFGH-JKMN-PQRS-TVWX-YZ0${at}`) },
  secret: {
    ...{ id: '4', secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' },
    uri: 'otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example',
  },
  url: { url: 'https://accounts.example.com' },
};

type FormOutcome = { readonly page: PageName; readonly title: string; readonly state: Omit<PageState, 'page'> };

/** The pages to which a form can lead: its own with errors, the next ones with a notice, and the one that shows its result once. */
const outcomesOf = (page: PageName, name: string, form: Form): readonly FormOutcome[] => {
  const { leadsTo, withoutTarget, withoutSession, notice, showsOnce, fields, keptFields = [] } = form;
  const mailStep = form.requiredField === undefined ? withoutSession?.mail : undefined;
  const fieldErrors = fields.filter((field) => field !== 'credential').map((field) => ({ field, code: 'other' }));
  const error = { code: 'CLIENT_PARAMS_VALIDATION_FAILED', status: 400, fields: fieldErrors };
  const typed = Object.fromEntries(keptFields.map((field) => [field, field === 'email' ? 'ada@example.org' : 'ada']));
  const steps = [leadsTo, withoutTarget, mailStep].filter((step) => step !== undefined && step !== 'target');
  return [
    ...(fieldErrors.length === 0 ? [] : [{ page, title: `${name}: error`, state: { form: name, error } }]),
    ...(notice === undefined
      ? []
      : steps.map((to) => ({ page: to, title: notice, state: { form: name, notice, typed } }))),
    ...(showsOnce === undefined
      ? []
      : [
          { page: showsOnce.on, title: showsOnce.member, state: { form: name, payload: SHOWN_ONCE[showsOnce.member] } },
        ]),
  ];
};

const BASE = { mayRegister: true, passwords: 'required' } as const;
const OTHER_VIEWS: readonly View[] = [
  {
    ...{ ...BASE, name: 'log-in', title: 'log-in: second view', isVisitor: false, payloads: {} },
    state: { page: 'log-in', form: 'log-in', typed: { account: 'ada' } },
  },
  ...(['register', 'account', 'delete'] as const).map((name) => ({
    ...{ ...BASE, name, title: 'PASSWORDS=optional', passwords: 'optional' as const },
    ...{ isVisitor: name !== 'register', payloads: name === 'register' ? {} : EMPTY, state: null },
  })),
  {
    ...{ ...BASE, name: 'register', title: 'REGISTRATION=closed', mayRegister: false, isVisitor: false, payloads: {} },
    state: { page: 'register', form: '', notice: 'closed' },
  },
];

/** Views of every page: with empty lists, with full ones if it has any, after outcomes of forms, and `OTHER_VIEWS`. */
export const views = (): readonly View[] => {
  const pages = Object.entries<Page>(PAGES) as [PageName, Page][];
  const outcomes = pages.flatMap(([page, { forms }]) =>
    Object.entries(forms).flatMap(([name, form]) => outcomesOf(page, name, form)),
  );
  return pages.flatMap(([name, page]) => {
    const pageView = { ...BASE, name, isVisitor: page.audience === 'visitor' };
    const shownPayloads = (payloads: Partial<Payloads>) =>
      Object.fromEntries(Object.entries(payloads).filter(([each]) => page.shows?.some((shown) => shown === each)));
    const states = new Map(outcomes.filter(({ page }) => page === name).map(({ title, state }) => [title, state]));
    return [
      { ...pageView, title: 'plain', state: null, payloads: shownPayloads(EMPTY) },
      ...(page.shows === undefined
        ? []
        : [{ ...pageView, title: 'filled', state: null, payloads: shownPayloads(FULL) }]),
      ...[...states].map(([title, state]) => ({
        ...pageView,
        title,
        state: { page: name, ...state },
        payloads: shownPayloads(FULL),
      })),
      ...OTHER_VIEWS.filter((other) => other.name === name),
    ];
  });
};

export const madeUpValues = (name: MailName, pagesUrl: string): Readonly<Record<string, MailValue>> => {
  const link = (page: string) => `${pagesUrl}/${page}#token=Yt2mJ8o1Jm3q4Wn0zQe7Rk5sXc9uVb6aLd1fGh2iKj4`;
  const time = NOW;
  return {
    username: 'ada',
    newEmail: maskedAddress('ada@example.org'),
    code: '48151623',
    codePage: new URL('/auth/code', pagesUrl).href,
    validFor: { duration: EMAIL_LINK_LIFETIME },
    undoFor: { duration: UNDO_LIFETIME },
    undoUntil: { time },
    time: { time },
    device: ['Firefox 153 on Linux'],
    network: '203.0.113.0/24',
    passkeys: ['Phone', 'Security key'],
    signIns: ['google ada@gmail.com'],
    apps: '1',
    link: link(name),
    confirmLink: link('email-verification'),
    disownLink: link('not-me'),
    undoLink: link(name === 'email-changed' ? 'email-change-undo' : 'factors-undo'),
    resetPage: `${pagesUrl}/password-reset`,
  };
};
