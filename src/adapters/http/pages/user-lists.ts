import { Html, html, NOTHING } from '../../../application/html.ts';
import { formOf, type Shown } from './user-forms.ts';

/** What the account has: lists whose items can be changed, and what is shown once. */

type Session = {
  readonly id: string;
  readonly name: string | null;
  readonly lastUsedAt: number;
  readonly binding: 'none' | 'device' | 'browser';
  readonly current: boolean;
  readonly remembered: boolean;
};
type Factors = {
  readonly passkeys: readonly { readonly id: string; readonly name: string | null; readonly createdAt: number }[];
  readonly totp: readonly { readonly id: string; readonly createdAt: number }[];
  readonly recoveryCodes: number;
};
type Pending = { readonly methods: readonly string[]; readonly enrol: boolean };
type User = {
  readonly username: string;
  readonly email: string;
  readonly locale: string | null;
  readonly secondFactor: boolean;
  readonly passkeys: number;
};
type StartedApp = { readonly id: string; readonly secret: string; readonly uri: string };
type Events = {
  readonly events: readonly {
    readonly id: string;
    readonly kind: string;
    readonly at: number;
    readonly count: number;
    readonly deviceName: string | null;
  }[];
  readonly next: string | null;
};

/** The payloads have the shapes of their routes' schemas. */
const payload = <Payload>({ payloads }: Shown, route: string): Partial<Payload> =>
  (payloads[route] ?? {}) as Partial<Payload>;
/** An app that is being added. Its form has it, so that it is still there after a wrong code. */
const started = ({ state }: Shown): Partial<StartedApp> =>
  (state?.payload ?? (state?.typed?.secret === undefined ? {} : state.typed)) as Partial<StartedApp>;
const startedIn = (shown: Shown): Readonly<Record<string, string>> => {
  const { id, secret, uri } = started(shown);
  return id === undefined || secret === undefined || uri === undefined ? {} : { id, secret, uri };
};

/** Which forms of a page are there, of those that are not always. */
const OFFERED: Readonly<Record<string, (shown: Shown) => boolean>> = {
  'second-factor.second-factor': (shown) => method(shown, 'totp') || started(shown).id !== undefined,
  'second-factor.recovery': (shown) => method(shown, 'recovery-code'),
  'second-factor.passkey': (shown) => method(shown, 'passkey'),
  'second-factor.start-app': (shown) =>
    payload<Pending>(shown, 'pending-login').enrol === true && started(shown).id === undefined,
  'step-up.code': (shown) => payload<User>(shown, 'current-user').secondFactor === true,
  'step-up.passkey': (shown) => (payload<User>(shown, 'current-user').passkeys ?? 0) > 0,
  'factors.app': (shown) => started(shown).id !== undefined,
  'factors.start-app': (shown) =>
    started(shown).id === undefined && payload<Factors>(shown, 'factors').totp?.length === 0,
  'factors.recovery-codes': (shown) => (payload<Factors>(shown, 'factors').totp?.length ?? 0) > 0,
};
const method = (shown: Shown, name: string): boolean =>
  payload<Pending>(shown, 'pending-login').methods?.includes(name) === true;

export const isOffered = (shown: Shown, form: string): boolean => OFFERED[`${shown.name}.${form}`]?.(shown) ?? true;

/** What a form begins with. */
export const withIds = (shown: Shown, form: string): Readonly<Record<string, string>> => {
  const { username = '', email = '', locale } = payload<User>(shown, 'current-user');
  if (form === 'username') return { username };
  if (form === 'email') return { email };
  if (form === 'language') return { locale: locale ?? '' };
  if (form === 'sessions') return { except: 'current' };
  return form === 'app' || form === 'second-factor' ? startedIn(shown) : {};
};

const nameOf = ({ texts }: Shown, name: string | null, unnamed: string): string => name ?? texts.common[unnamed] ?? '';

const timeOf = ({ locale }: Shown, at: number): Html =>
  html`<time datetime="${new Date(at).toISOString()}">${new Date(at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC</time>`;

/** A text with a time in it. */
const sayTime = (shown: Shown, text: string, at: number): Html => {
  const [before = '', after = ''] = (shown.texts.common[text] ?? '').split('{time}');
  return html`${before}${timeOf(shown, at)}${after}`;
};

const item = (title: string, details: readonly (Html | string)[], forms: readonly Html[] = []): Html => {
  const said = details.filter((each) => each !== '').map((each, at) => html`${at === 0 ? '' : ' · '}${each}`);
  return html`<li><div><strong>${title}</strong> <small>${said}</small></div>${forms}</li>\n`;
};

/** A list, or a sentence that there is nothing in it. */
const itemsOf = ({ texts }: Shown, items: readonly Html[]): Html =>
  items.length === 0 ? html`<p class="lead">${texts.common.nothing ?? ''}</p>` : html`<ul class="items">${items}</ul>`;

export const LISTS: Readonly<Record<string, (shown: Shown) => Html>> = {
  sessions: (shown) => {
    const { common } = shown.texts;
    const say = (name: string, isSo: boolean) => (isSo ? [common[name] ?? ''] : []);
    const sessions = (shown.payloads.sessions ?? []) as readonly Session[];
    return html`<ul class="items">${sessions.map(({ id, name, lastUsedAt, binding, current, remembered }) =>
      item(
        nameOf(shown, name, 'unknown-device'),
        [
          ...say('this-device', current),
          ...say('bound', binding !== 'none'),
          ...say('remembered', remembered),
          sayTime(shown, 'last-used', lastUsedAt),
        ],
        // That is a log-out, which has a page.
        current ? [] : [formOf(shown, 'session', { id }, nameOf(shown, name, 'unknown-device'))],
      ),
    )}</ul>`;
  },
  passkeys: (shown) =>
    itemsOf(
      shown,
      (payload<Factors>(shown, 'factors').passkeys ?? []).map(({ id, name, createdAt }) =>
        item(
          nameOf(shown, name, 'passkey'),
          [sayTime(shown, 'added', createdAt)],
          [
            html`<details><summary>${shown.texts.common.rename ?? ''}</summary>${formOf(shown, 'rename-passkey', { id, name: name ?? '' }, nameOf(shown, name, 'passkey'))}</details>`,
            formOf(shown, 'remove-passkey', { id }, nameOf(shown, name, 'passkey')),
          ],
        ),
      ),
    ),
  apps: (shown) =>
    itemsOf(
      shown,
      (payload<Factors>(shown, 'factors').totp ?? []).map(({ id, createdAt }) =>
        item(
          nameOf(shown, null, 'app'),
          [sayTime(shown, 'added', createdAt)],
          [formOf(shown, 'remove-app', { id }, nameOf(shown, null, 'app'))],
        ),
      ),
    ),
  'codes-left': (shown) =>
    html`<p>${(shown.texts.common.left ?? '').replace('{count}', `${payload<Factors>(shown, 'factors').recoveryCodes ?? 0}`)}</p>`,
  /** The secret of an app that is being added. */
  app: (shown) => {
    const { secret } = started(shown);
    if (secret === undefined || shown.qr === null) return NOTHING;
    const { common } = shown.texts;
    return html`<p>${common.scan ?? ''}</p>
<div class="qr" role="img" aria-label="${common.qr ?? ''}">${new Html(shown.qr)}</div>
<p><code>${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>`;
  },
  'recovery-codes': (shown) => {
    const { recoveryCodes = [] } = (shown.state?.payload ?? {}) as { readonly recoveryCodes?: readonly string[] };
    // A sheet of paper says whose they are.
    const { username = '' } = payload<User>(shown, 'current-user');
    return html`<p class="owner">${shown.site.brand.name} · ${username}</p>
<ol class="codes">${recoveryCodes.map((code) => html`<li><code>${code}</code></li>\n`)}</ol>`;
  },
  events: (shown) => {
    const { events = [], next } = payload<Events>(shown, 'events');
    const { common } = shown.texts;
    return html`<ol class="items">${events.map(({ kind, count, at, deviceName }) =>
      item(`${shown.texts.events[kind] ?? kind}${count > 1 ? ` × ${count}` : ''}`, [
        deviceName ?? '',
        timeOf(shown, at),
      ]),
    )}</ol>
${typeof next === 'string' ? html`<p><a href="?before=${next}">${common.older ?? ''}</a></p>` : NOTHING}`;
  },
};
