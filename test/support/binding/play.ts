import { expect } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { revertingSessions } from '../../../src/adapters/records/reverting-sessions.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { NOTICES } from '../../../src/domain/message.ts';
import type { Session } from '../../../src/domain/session.ts';
import { application, MINUTE } from '../application.ts';
import { aUser, NOW } from '../builders.ts';
import { plainTokenSigner } from '../fakes.ts';
import { reportsOf } from '../reports.ts';
import { faultyLine } from '../rotation/faulty-line.ts';
import type { Store } from '../rotation/play.ts';
import type { Fault } from '../rotation/program.ts';
import { sequentialIds } from '../sequential-ids.ts';
import { separately } from '../units.ts';
import type { Attack, Program, Step } from './program.ts';
import { timedDeviceProof, timedProof } from './timed-proofs.ts';

const PASSWORD = 'correct horse';
const BROWSER = 'browser';

type StepOf<Type extends Step['type']> = Extract<Step, { readonly type: Type }>;
type Sender = 'browser' | 'thief';
type Request = { readonly by: Sender; readonly cookie: string; readonly proof: string | null };
/** `at`: the time of the service, in epoch milliseconds. */
type Answer = { readonly cookie: string } | { readonly code: string; readonly at: number };

const ids = sequentialIds();

/** A cancellation that aborts right after the rotation. */
const timingOut = () => {
  let asked = 0;
  return {
    throwIfAborted: () => {
      asked += 1;
      if (asked === 2) throw new Error('timed out');
    },
  };
};

const codeOf = (error: unknown): string => {
  if (error instanceof AppError) return error.code;
  if (error instanceof Error && error.message === 'timed out') return error.message;
  throw error;
};

export type Options = {
  /** Puts something between the service and its store: the order of concurrent calls. */
  readonly between?: (sessions: SessionRepository) => SessionRepository;
  /** Ends when all requests have arrived and are answered. */
  readonly whileAllArrive?: (requests: Promise<unknown>) => Promise<unknown>;
};

/**
 * Runs a program of one browser and of thieves on two instances of the service, and checks after each step what must always hold: the
 * session lives, and no proof yields tokens twice. In the end the browser gets a token, whatever happened.
 * @returns what happened, in words.
 */
export const play = async (store: Store, program: Program, options: Options = {}): Promise<string[]> => {
  const trace: string[] = [];
  const world = await stage(store, program, options, (word) => trace.push(word));
  try {
    for (const step of program.steps) {
      trace.push(`${step.type}:`);
      await world.take(step);
      await world.check();
    }
    await world.take({ type: 'settle' });
    await world.comeBack();
    await world.check();
    return trace;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\nafter\n${trace.join('\n')}`, { cause: error });
  }
};

const stage = async (
  { users, sessions }: Store,
  { policy, skew, steps }: Program,
  { between = (each) => each, whileAllArrive = (requests) => requests }: Options,
  say: (word: string) => void,
) => {
  const line = faultyLine(sessions);
  const uses = faultyUses(line.sessions);
  const records = memoryStorage();
  const tokens = plainTokenSigner();
  const report = reportsOf('refresh', (outcome) => say(`  ${outcome}`));
  const stores = [0, 1].map(() => revertingSessions(between(uses.sessions), { retryInterval: 1 }));
  const unitOfWork = separately({ ...records, users, sessions });
  const shared = {
    ...records,
    users,
    unitOfWork,
    tokens,
    ids,
    replayPolicy: policy,
    report,
    proofs: { verifyDevice: timedDeviceProof, verifyBrowser: () => expect.unreachable() },
  };
  const apps = stores.map((each) => application({ ...shared, sessions: each, notices: new Set(NOTICES) }));
  const at = (instance: number) => apps[instance] ?? expect.unreachable();
  const now = () => at(0).clock.now();
  const setClocks = (time: number) => {
    for (const { clock } of apps) clock.set(time);
  };
  setClocks(NOW);

  const user = aUser({ passwordHash: `1:${PASSWORD}` });
  for (const each of [users, records.users]) await each.add(user);
  const proof = { text: timedProof(BROWSER, now()), method: 'POST', urls: [] };
  const opened = await at(0).login({ account: user.username, password: PASSWORD, presented: { proof } });
  const key = { id: opened.sessionId, userId: user.id };

  /** The browser: its cookie, and by how much it takes its clock to be wrong. */
  const browser = { cookie: opened.refreshToken, correction: 0 };
  const deviceTime = () => now() + skew;
  const cookies = [opened.refreshToken];
  const sent: Request[] = [];
  const arriving: Request[] = [];
  const answers: Answer[] = [];
  /** The proofs that have yielded tokens, as far as the store knows. */
  let worked: string[] = [];
  const history: { readonly session: Session; readonly worked: readonly string[] }[] = [];
  let attacks = 0;

  const stored = async (): Promise<Session> =>
    (await sessions.find(key)) ?? expect.unreachable('the session of the browser has ended');
  const taken = <Each>(from: Each[], number: number): Each[] =>
    from.length === 0 ? [] : from.splice(number % from.length, 1);
  const newest = <Each>(from: readonly Each[], number: number): Each | undefined =>
    from.at(-1 - (number % from.length));

  const send = (request: Request): void => void arriving.push(request);
  const sendAsBrowser = (): void => {
    const request = {
      by: 'browser',
      cookie: browser.cookie,
      proof: timedProof(BROWSER, deviceTime() + browser.correction),
    } as const;
    sent.push(request);
    send(request);
  };
  const proofOfThief = (body: Attack['body']): string | null => {
    if (typeof body === 'number') return newest(sent, body)?.proof ?? null;
    if (body === 'of another key') return timedProof('thief', now());
    if (body === 'of another key and time') return timedProof('thief', now() - 10 * MINUTE);
    return body === 'none' ? null : body;
  };

  const serve = async ({ by, cookie, proof }: Request, instance: number, fault: Fault): Promise<void> => {
    const presented = { proof: proof === null ? null : { text: proof, method: 'POST', urls: [] } };
    const cancellation = fault === 'timed out' ? { cancellation: timingOut() } : {};
    const answer: Answer = await at(instance)
      .refresh([cookie], { presented, ...cancellation })
      .then(
        ({ refreshToken }) => ({ cookie: refreshToken }),
        (error: unknown) => ({ code: codeOf(error), at: now() }),
      );
    say(`  ${by} with ${proof}: ${'code' in answer ? answer.code : 'a token'}`);
    if ('cookie' in answer) {
      expect(proof, 'a token without a proof of the key').toMatch(/^browser\./);
      expect(worked, 'a proof yields tokens twice').not.toContain(proof);
      worked.push(proof ?? '');
      cookies.push(answer.cookie);
    }
    if (by === 'browser') answers.push(answer);
  };

  const arrive = async ({ requests, instance, fault }: StepOf<'arrive'>): Promise<void> => {
    const batch = requests.flatMap((number) => taken(arriving, number));
    line.arm(fault);
    uses.arm(fault);
    await whileAllArrive(Promise.all(batch.map((request, index) => serve(request, (instance + index) % 2, fault))));
    line.disarm();
    uses.arm('none');
  };

  const receive = (answer: Answer): void => {
    if ('cookie' in answer) browser.cookie = answer.cookie;
    else if (answer.code === 'AUTH_PROOF_EXPIRED') browser.correction = answer.at - deviceTime();
  };

  const settle = async (): Promise<void> => {
    await uses.deliver();
    await line.settle();
  };

  /** The store is what it was some steps ago: what proofs have yielded since is forgotten, too. */
  const forget = async (count: number): Promise<void> => {
    await settle();
    const then = history.at(-1 - count) ?? history[0];
    if (then === undefined) return;
    await sessions.end(key);
    await sessions.add(then.session);
    worked = [...then.worked];
  };

  const take = async (step: Step): Promise<void> => {
    switch (step.type) {
      case 'send':
        return sendAsBrowser();
      case 'repeat': {
        const request = newest(sent, step.request);
        return request && send(request);
      }
      case 'attack': {
        attacks += 1;
        const cookie = newest(cookies, step.attack.cookie) ?? expect.unreachable();
        return send({ by: 'thief', cookie, proof: proofOfThief(step.attack.body) });
      }
      case 'arrive':
        return arrive(step);
      case 'answer': {
        const [answer] = taken(answers, step.answer);
        return answer && !step.lost ? receive(answer) : undefined;
      }
      case 'wait':
        return setClocks(now() + step.by);
      case 'settle':
        return settle();
      case 'forget':
        return forget(step.steps);
    }
  };

  const check = async (): Promise<void> => {
    history.push({ session: await stored(), worked: [...worked] });
    const kinds = (await records.events.list({ userId: user.id, before: null, limit: 200 })).map(({ kind }) => kind);
    expect(kinds).not.toContain('session-ended');
    const told = (await records.outbox.listByUser(user.id)).map(({ kind }) => kind);
    expect(told).not.toContain('token-replayed');
    // A browser causes no alarm by itself, whatever is lost, late or repeated.
    if (attacks === 0) expect([...kinds, ...told]).not.toContain('device-unproven');
  };

  /** The browser refreshes until it has a token. Its clock may be wrong, and it may have to sign again once. */
  const comeBack = async (): Promise<void> => {
    answers.length = 0;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      sendAsBrowser();
      await arrive({ type: 'arrive', requests: [arriving.length - 1], instance: attempt, fault: 'none' });
      const [answer] = answers.splice(0);
      if (answer !== undefined) receive(answer);
      if (answer !== undefined && 'cookie' in answer) return;
    }
    expect.unreachable('the browser is out');
  };

  return { take, check, comeBack, steps };
};

/** A store whose next use of a proof without a rotation can fail. */
const faultyUses = (store: SessionRepository) => {
  let next: Fault = 'none';
  const late: (() => Promise<unknown>)[] = [];
  const useProof: SessionRepository['useProof'] = async (key, proof) => {
    const fault = next;
    next = 'none';
    if (fault === 'none' || fault === 'timed out') return store.useProof(key, proof);
    if (fault === 'answer lost') await store.useProof(key, proof);
    if (fault === 'late') late.push(() => store.useProof(key, proof));
    throw new AppError('DB_QUERY_FAILED', { reason: 'the line is broken' });
  };
  return {
    sessions: { ...store, useProof },
    arm: (fault: Fault): void => {
      next = fault;
    },
    deliver: async (): Promise<void> => {
      for (const use of late.splice(0)) await use();
    },
  };
};
