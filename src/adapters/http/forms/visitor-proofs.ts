import type { Secrets } from '../../../application/ports/secrets.ts';

/** The cookie that shows for minutes that a visitor has proven the key of the session. */
export const visitorProofs = (secrets: Pick<Secrets, 'sign' | 'unsign'>, now: () => number, lifetime: number) => ({
  of: ({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): string =>
    secrets.sign({ purpose: 'page-visitor', userId, sessionId, value: '', expiresAt: now() + lifetime }),
  sessionsIn: (texts: readonly string[]): readonly string[] =>
    texts.flatMap((text) => secrets.unsign(text, 'page-visitor', now())?.sessionId ?? []),
});
