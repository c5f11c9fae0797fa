import { expect } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { IdGenerator } from '../../../src/application/ports/clock-and-ids.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import type { RefreshToken, TokenSigner } from '../../../src/application/ports/token-signer.ts';
import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { isLive, type Session } from '../../../src/domain/session.ts';
import type { ReplayPolicy } from '../../../src/domain/token-status.ts';
import { application } from '../../support/application.ts';
import { NOW } from '../../support/builders.ts';
import { reportsOf } from '../../support/reports.ts';
import { sessionModel } from './model.ts';

/** A token of a client; the model identifies it by `number`. */
type Held = { readonly number: number; readonly text: string };
/** The token that a request returned, or why it was rejected. */
export type Answer = { readonly text: string } | string;

type Opened = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly ids: IdGenerator;
  readonly policy: ReplayPolicy;
  readonly now: number;
  readonly first: RefreshToken & { readonly text: string };
};

/** One device's session: the tokens of its client, its model, and checks of what must never happen. */
export const deviceSession = ({ users, sessions, tokens, ids, policy, now: openedAt, first }: Opened) => {
  const id = first.sessionId;
  const key = { id, userId: first.claims.sub };
  const model = sessionModel(policy, openedAt);
  const held: Held[] = [{ number: 0, text: first.text }];
  const numbers = new Map([[first.claims.jti, 0]]);
  const spent = new Set<string>();
  /** What the store knew after each step. */
  const history: { readonly session: Session | null; readonly known: ReturnType<typeof model.snapshot> }[] = [];
  let dead = false;
  let probed = '';

  const opened = async (text: string): Promise<RefreshToken> => {
    const verified = await tokens.verifyRefresh(text, 0);
    return verified.ok ? verified.token : expect.unreachable(verified.reason);
  };
  const newest = (): Held => held.at(-1) ?? expect.unreachable();

  /** The token of a response by its number; a new one has the number that the model expects. */
  const wordFor = async (used: Held, answer: Answer, expected: readonly string[]): Promise<string> => {
    if (typeof answer === 'string') return answer;
    expect(dead, 'a session that has ended yields a token').toBe(false);
    const { claims, sessionId } = await opened(answer.text);
    expect(sessionId, 'a session yields the token of another').toBe(id);
    const known = numbers.get(claims.jti);
    if (known !== undefined) return `token ${known} again`;
    expect(spent, 'a rotated token works again').not.toContain(used.text);
    spent.add(used.text);
    const number = Number(expected.map((word) => /^token (\d+)$/.exec(word)?.[1]).find(Boolean));
    numbers.set(claims.jti, number);
    held.push({ number, text: answer.text });
    return `token ${number}`;
  };

  /** Which of the client's tokens, old and new, would be rotated now: tried on a copy of the stored session. */
  const usable = async (session: Session | null, now: number): Promise<string[]> => {
    const worked: string[] = [];
    for (const { text } of held) {
      const copy = memoryStorage();
      const user = await users.findById(key.userId);
      if (user !== null) await copy.users.add(user);
      if (session !== null) await copy.sessions.add(session);
      const rotated: unknown[] = [];
      const report = reportsOf(
        'refresh',
        (outcome) => ['rotated', 'recovered'].includes(outcome) && rotated.push(text),
      );
      const app = application({ ...copy, tokens, ids, report });
      app.clock.set(now);
      await app.refresh([text]).catch(() => undefined);
      worked.push(...rotated.map(() => text));
    }
    return worked;
  };

  const nameOf = (tokenId: string | null) => (tokenId === null ? null : numbers.get(tokenId));

  return {
    id,
    model,
    /** The token that was the newest `age` tokens ago, or the oldest. */
    tokenOf: (age: number): Held => held[Math.max(0, held.length - 1 - age)] ?? newest(),
    newest,
    /** Sets the model's number of a token that no client received. */
    name: (tokenId: string, number: number): void => void numbers.set(tokenId, number),
    /** Keeps what the store knows now. */
    async keep(): Promise<void> {
      history.push({ session: await sessions.find(key), known: model.snapshot() });
    },
    /** Lets the store forget what the last steps have changed. */
    async forget(steps: number): Promise<void> {
      const { session, known } = history[Math.max(0, history.length - 1 - steps)] ?? expect.unreachable();
      await sessions.end(key);
      if (session !== null) await sessions.add(session);
      model.forget(known);
      dead = known.state === null;
      spent.clear();
      probed = '';
    },
    end: (): void => {
      dead = true;
    },
    /** Compares the responses to concurrent refreshes of one token with the model's, in any order. */
    async received(used: Held, answers: readonly Answer[], expected: readonly string[]): Promise<string> {
      const words: string[] = [];
      for (const answer of answers) words.push(await wordFor(used, answer, expected));
      // When several were rejected, any may have been the first.
      const alike = (all: readonly string[]) =>
        all.length === 1 ? all : all.map((word) => word.replace(/^AUTH_FAILED.*/, 'AUTH_FAILED')).sort();
      expect(alike(words)).toEqual(alike(expected));
      if (expected.includes('AUTH_FAILED reused')) dead = true;
      return alike(words).join(', ');
    },
    /** Compares the stored session and its usable tokens with the model's. @returns both, as text. */
    async look(now: number): Promise<string> {
      const session = await sessions.find(key);
      const stored = session !== null && isLive(session, now) ? session : null;
      const state = stored && {
        current: nameOf(stored.currentTokenId),
        rotatedAt: stored.rotatedAt,
        expiresAt: stored.expiresAt,
      };
      expect(state).toEqual(model.stored(now));
      if (state === null) return 'ended';
      const words = `token ${state.current} at ${state.rotatedAt - NOW} until ${state.expiresAt - NOW}`;
      if (words !== probed) {
        const worked = await usable(stored, now);
        expect(worked).toEqual(held.filter(({ number }) => model.isUsable(number, now)).map(({ text }) => text));
        probed = words;
      }
      return words;
    },
  };
};

export type DeviceSession = ReturnType<typeof deviceSession>;
