import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import type { SenderFor } from '../../src/application/ports/hooks.ts';
import type { IdentityProvider } from '../../src/application/ports/identity-providers.ts';
import type { Mailer } from '../../src/application/ports/mailer.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { Here } from './facts.ts';
import { kernel, MINUTE } from './kernel.ts';
import { BASE } from './service.ts';

/** What instances share beside the database: counts, a mail server, a receiver of webhooks. */

/** How often calls fail, and replies are lost. */
export const ALL_WELL = { mail: 0, replies: 0, hooks: 0, providers: 0, hasNoCounts: false };
type Around = Here & { readonly outside: typeof ALL_WELL };

export const countsOf = (outside: typeof ALL_WELL) => {
  const counts = memoryCounts();
  const unlessAway =
    <Given extends unknown[], Value>(call: (...given: Given) => Promise<Value>) =>
    async (...given: Given): Promise<Value> => {
      if (outside.hasNoCounts) throw new Error('the counts are away');
      return call(...given);
    };
  return { countRequest: unlessAway(counts.countRequest), replace: unlessAway(counts.replace) };
};

export const mailServer = ({ chance, story, facts, outside }: Around) => {
  const times = new Map<string, number>();
  return (isDead: () => boolean): Mailer => ({
    async send({ id, to, subject, text }) {
      await kernel.sleep(chance.between(20, 800));
      if (isDead()) return new Promise(() => undefined);
      if (chance.happens(outside.mail)) throw new Error('the mail server is away');
      const count = (times.get(id) ?? 0) + 1;
      times.set(id, count);
      facts.sent.set(id, to);
      story.tell(`mail to ${to}: ${subject}`);
      facts.letters.push({ to, text });
      story.expect('a mail goes out once', count === 1, () => subject, facts.faultWithin(10 * MINUTE));
      if (chance.happens(outside.replies)) throw new Error('the reply of the mail server was lost');
      return 'sent';
    },
  });
};

export const receiver = ({ chance, story, facts, outside }: Around): SenderFor => {
  const seen = new Map<string, number>();
  return async () => async (message) => {
    await kernel.sleep(chance.between(5, 3_000));
    if (chance.happens(outside.hooks / 2)) throw new Error('no answer');
    if (chance.happens(outside.hooks / 2)) return { status: 500, retryAfter: 0 };
    const { sequence, data } = message as unknown as { sequence: number; data: { userId: string } };
    const last = seen.get(data.userId) ?? 0;
    const text = () => `${sequence} after ${last}`;
    story.expect('webhooks come in order', sequence <= last + 1, text, facts.forgotSince(0));
    seen.set(data.userId, Math.max(last, sequence));
    return { status: 204, retryAfter: 0 };
  };
};

export const PROVIDER = 'https://accounts.example';
/** It believes everybody: the code that it sends back is who has logged in. */
export const provider = ({ chance, outside }: Around): IdentityProvider => ({
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
