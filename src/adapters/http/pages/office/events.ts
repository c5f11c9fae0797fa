import { type Html, html } from '../../../../application/templates.ts';
import type { AccountEvent, EventKind, SessionEnding } from '../../../../domain/event.ts';
import { actorUrl, type Tone, timeOf, wordsOf } from './frame.ts';
import type { PageView } from './view.ts';

const ENDING_TEXTS: Readonly<Record<SessionEnding, string>> = {
  logout: 'the user logged out',
  replaced: 'a new session took its place',
  'ended-by-user': 'the user ended it',
  'all-ended': 'the user ended all sessions',
  'password-changed': 'the password was changed',
  'password-reset': 'the password was reset by a link',
  'email-change-undone': 'a change of the address was undone',
  'factors-undone': 'changes of factors were undone',
  'address-proven': 'the address was proven for the first time',
  'token-replayed': 'a used refresh token came back: it was probably stolen',
  evicted: 'the user had too many sessions',
  expired: 'its time was over',
  operator: 'an operator ended it',
  'account-deleted': 'the account was deleted',
};

const TONES: Readonly<Partial<Record<EventKind, Tone>>> = {
  'logged-in': 'good',
  registered: 'good',
  'email-verified': 'good',
  enabled: 'good',
  'login-refused': 'warn',
  'registration-refused': 'warn',
  'passkey-copy-suspected': 'bad',
  'device-unproven': 'bad',
  'recovery-code-used': 'warn',
  disabled: 'bad',
  deleted: 'bad',
};

const toneOf = ({ kind, reason }: Pick<AccountEvent, 'kind' | 'reason'>): Tone =>
  reason === 'token-replayed' ? 'bad' : (TONES[kind] ?? 'quiet');

export const hasDevice = ({ userAgent, address }: Pick<AccountEvent, 'userAgent' | 'address'>): boolean =>
  userAgent !== null || address !== null;

/** The name of the device, and the network from which it sent the request. */
export const deviceOf = (view: PageView, { userAgent, address }: Pick<AccountEvent, 'userAgent' | 'address'>): Html => {
  const name = view.deviceNames(userAgent) ?? userAgent;
  return html`<span${userAgent === null ? '' : html` title="${userAgent}"`}>${name ?? 'Unknown device'}</span>${address === null ? '' : html` <code>${address}</code>`}`;
};

export type ShownEvent = Omit<AccountEvent, 'userId'>;

/** A sentence that says what happened, why, and which operator did it. */
export const sentenceOf = ({ site }: PageView, { kind, reason, method, note, count, actor }: ShownEvent): Html =>
  html`<strong>${wordsOf(kind)}</strong>${count > 1 ? html` <span class="count">× ${count}</span>` : ''}${method === null ? '' : ` (${wordsOf(method).toLowerCase()})`}${reason === null ? '' : html`: ${ENDING_TEXTS[reason]}`}${note === null ? '' : html` <q>${note}</q>`}${actor === null ? '' : html` <small>by\u00a0<a href="${actorUrl(site, actor)}">${actor}</a></small>`}`;

const dayOf = ({ at }: ShownEvent): string =>
  new Date(at).toLocaleDateString('en-GB', {
    ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
    timeZone: 'UTC',
  });

export const timelineOf = (view: PageView, events: readonly ShownEvent[]): readonly Html[] =>
  [...Map.groupBy(events, dayOf)].map(
    ([day, all]) => html`<h3>${day}, UTC</h3>
<ol class="timeline">
${all.map(
  (event) => html`<li class="${toneOf(event)}">
<div>${sentenceOf(view, event)}</div>
<small>${timeOf(event.at, true)}${hasDevice(event) ? html` · ${deviceOf(view, event)}` : ''}</small>
</li>
`,
)}</ol>
`,
  );
