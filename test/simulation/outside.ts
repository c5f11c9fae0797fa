import { decoded } from '../../src/adapters/crypto/es256.ts';
import { type Counts, memoryCounts } from '../../src/adapters/limits/counts.ts';
import type { SenderFor } from '../../src/application/ports/hooks.ts';
import type { IdentityProvider } from '../../src/application/ports/identity-providers.ts';
import type { Mailer } from '../../src/application/ports/mailer.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { facts, faultWithin, forgotSince } from './facts.ts';
import { type Chance, expect, kernel, MINUTE, perWorld, tell } from './kernel.ts';

/** Requests and their tokens, and what instances share beside the database: counts, a mail server, a receiver of webhooks, a provider. */

export const [BASE, APPLICATION] = ['https://auth.example.com', 'https://app.example.com'] as const;
export const APP_LINK = 'com.example.app:/signed-in';

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly address: string;
};
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
};
export const json = (body: object) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const partOf = (token: string, part: 0 | 1) => decoded(token.split('.')[part] ?? '') as Record<string, string> | null;
export const sessionOf = (token = ''): string => partOf(token, 0)?.sid ?? '';
export const claimsOf = (token = '') => partOf(token, 1);
const refreshTokenIn = (cookies = ''): string | undefined => /\brefresh_token=([\w.-]+)/.exec(cookies)?.[1];
export const tokenOf = ({ headers }: Asked): string | undefined => refreshTokenIn(headers?.cookie);
export const tokenIn = ({ cookies }: Answer): string | undefined => refreshTokenIn(cookies.join());
export const accessTokenOf = ({ headers }: Asked): string | undefined => headers?.authorization?.split(' ')[1];

/** How often calls fail, and replies are lost. */
export const ALL_WELL = { mail: 0, replies: 0, hooks: 0, providers: 0, hasNoCounts: false };
export const outside = perWorld(() => ({ ...ALL_WELL }));

const simulatedCounts = (): Counts => {
  const counts = memoryCounts();
  const unlessAway = async <Value>(call: () => Promise<Value>): Promise<Value> => {
    if (outside.hasNoCounts) throw new Error('the counts are away');
    return call();
  };
  return {
    countRequest: (...given) => unlessAway(() => counts.countRequest(...given)),
    replace: (...given) => unlessAway(() => counts.replace(...given)),
  };
};

const mailServer =
  (chance: Chance) =>
  (isDead: () => boolean): Mailer => ({
    async send({ id, to, subject, text }) {
      await kernel.sleep(chance.between(20, 800));
      if (isDead()) return new Promise(() => undefined);
      facts.refused.set(id, kernel.time);
      if (chance.happens(outside.mail)) throw new Error('the mail server is away');
      facts.refused.delete(id);
      tell(`mail to ${to}: ${subject}`);
      const isSent = facts.letters.some((letter) => letter.id === id);
      expect('a mail goes out once', !isSent, () => subject, faultWithin(10 * MINUTE));
      facts.letters.push({ id, to, text });
      if (chance.happens(outside.replies)) throw new Error('the reply of the mail server was lost');
      return 'sent';
    },
  });

const receiver = (chance: Chance): SenderFor => {
  const seen = new Map<string, number>();
  const ids = new Map<string, string>();
  return async () => async (message) => {
    await kernel.sleep(chance.between(5, 3_000));
    const { id, sequence, data } = message as unknown as { id: string; sequence: number; data: { userId: string } };
    const [event, last] = [`${data.userId} ${sequence}`, seen.get(data.userId) ?? 0];
    const isKnown = id === (ids.get(event) ?? id);
    ids.set(event, id);
    if (chance.happens(outside.hooks / 2)) throw new Error('no answer');
    if (chance.happens(outside.hooks / 2)) return { status: 500, retryAfter: 0 };
    expect('webhooks come in order', isKnown && sequence <= last + 1, () => `${event} after ${last}`, forgotSince(0));
    seen.set(data.userId, Math.max(last, sequence));
    return { status: 204, retryAfter: 0 };
  };
};

export const PROVIDER = 'https://accounts.example';
/** It believes everybody: the code that it sends back is who has logged in. */
const provider = (chance: Chance): IdentityProvider => ({
  name: 'acme',
  title: 'Acme',
  callback: { url: `${BASE}/auth/oidc/acme/callback`, isPosted: false },
  begin: async ({ state }) => `${PROVIDER}/?state=${state}`,
  async complete({ state }, answer) {
    await kernel.sleep(chance.between(20, 800));
    if (chance.happens(outside.providers)) throw new AppError('SYS_PROVIDER_UNAVAILABLE');
    const said = new URLSearchParams(answer);
    const subject = said.get('code') ?? '';
    if (said.get('state') !== state || subject === '') throw new AppError('AUTH_IDENTITY_UNPROVEN');
    return { provider: 'acme', issuer: PROVIDER, subject, email: `${subject}@example.org`, isEmailVerified: true };
  },
});

/** Of a deployment. */
export const openOutside = (chance: Chance) => ({
  counts: simulatedCounts(),
  mailerOf: mailServer(chance.fork()),
  senderFor: receiver(chance.fork()),
  providers: new Map([['acme', provider(chance.fork())]]),
});
