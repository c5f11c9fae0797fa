import { expect } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { revertingSessions } from '../../../src/adapters/records/reverting-sessions.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { application } from '../../support/application.ts';
import { aUser, NOW } from '../../support/builders.ts';
import { plainTokenSigner } from '../../support/fakes.ts';
import type { Fault, Program, Step } from '../../support/rotation/program.ts';
import { sequentialIds } from '../../support/sequential-ids.ts';
import { separately } from '../../support/transactions.ts';
import { type Answer, type DeviceSession, deviceSession } from './device-session.ts';
import { faultyLine } from './faulty-line.ts';

export type Store = { readonly users: UserRepository; readonly sessions: SessionRepository };

const PASSWORD = 'correct horse';

type StepOf<Type extends Step['type']> = Extract<Step, { readonly type: Type }>;

/** The result of a request as text, which must be the same for every store. */
const outcomeOf = (error: unknown): string => {
  if (error instanceof AppError) return [error.code, ...statusIn(error)].join(' ');
  if (error instanceof Error && error.message === 'timed out') return error.message;
  throw error;
};
const statusIn = ({ reason = '', level }: AppError): string[] => {
  if (reason === 'no refresh token verifies') return ['not verified'];
  if (level === 'warn' && reason.startsWith('refresh token reused')) return ['reused'];
  return /^the session is not refreshed: (.*)$/.exec(reason)?.slice(1) ?? [];
};

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

const ids = sequentialIds();

/**
 * Runs a program of one user's devices on two instances of the service, and compares every response, and the stored sessions
 * after it, with the model.
 * @returns the results, step by step.
 */
export const play = async (store: Store, program: Program) => {
  const trace: string[] = [];
  const { take, devices, now } = await stage(store, program);
  try {
    for (const step of [...program.steps, { type: 'settle' } as const]) {
      trace.push(`${step.type}: ${await take(step)}`);
      for (const device of devices) trace.push(`  ${await device.look(now())}`);
      for (const device of devices) await device.keep();
    }
    return trace;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\nafter\n${trace.join('\n')}`, { cause: error });
  }
};

const stage = async ({ users, sessions }: Store, { policy }: Program) => {
  const line = faultyLine(sessions);
  const shared = { users, tokens: plainTokenSigner(), ids, replayPolicy: policy };
  const stores = [0, 1].map(() => revertingSessions(line.sessions, { retryInterval: 1 }));
  // As in the service, a transaction reads and ends sessions without the memory of unconfirmed rotations.
  const transactions = separately({ ...memoryStorage(), users, sessions: line.sessions });
  const apps = stores.map((each) => application({ ...shared, sessions: each, transactions }));
  const setClocks = (by: number, from: number) => {
    for (const { clock } of apps) clock.set(from + by);
  };
  setClocks(0, NOW);
  const at = (instance: number) => apps[instance] ?? expect.unreachable();
  const now = () => at(0).clock.now();
  const user = aUser({ passwordHash: `1:${PASSWORD}` });
  await users.add(user);
  const devices: DeviceSession[] = [];
  const chosen = (number: number) => devices[number % devices.length] ?? expect.unreachable();

  const logIn = async (instance: number): Promise<string> => {
    const { refreshToken: text } = await at(instance).login({ account: user.username, password: PASSWORD });
    const verified = await shared.tokens.verifyRefresh(text, now());
    const token = verified.ok ? verified.token : expect.unreachable(verified.reason);
    devices.push(deviceSession({ ...shared, sessions, policy, now: now(), first: { ...token, text } }));
    return 'done';
  };

  const refreshOnce = (instance: number, text: string, fault: Fault): Promise<Answer> =>
    at(instance)
      .refresh([text], fault === 'timed out' ? { cancellation: timingOut() } : {})
      .then(({ refreshToken }) => ({ text: refreshToken }), outcomeOf);

  const refresh = async ({ session, age, instance, fault, times }: StepOf<'refresh'>): Promise<string> => {
    const device = chosen(session);
    const token = device.tokenOf(age);
    const expected = Array.from({ length: times }, () => device.model.refresh(token.number, now(), instance, fault));
    line.arm(fault);
    const answers = await Promise.all(expected.map(() => refreshOnce(instance, token.text, fault)));
    const unreceived = line.disarm()?.to;
    if (unreceived !== undefined) device.name(unreceived, device.model.newest());
    return device.received(token, answers, expected);
  };

  const logOut = async ({ session, age, instance }: StepOf<'log out'>): Promise<string> => {
    const device = chosen(session);
    const token = device.tokenOf(age);
    if (device.model.logOut(token.number, now())) device.end();
    await at(instance).logout([token.text]);
    return 'done';
  };

  const settle = async (): Promise<string> => {
    for (const { model } of devices) model.settle();
    await line.settle();
    return 'done';
  };

  /** Settles first: after a purge, a late rotation would find its session in some stores and not in others. */
  const purge = async (): Promise<string> => {
    await settle();
    await sessions.purge(now(), 100);
    return 'done';
  };

  /** Settles first: afterwards, an instance would revert a rotation that the store does not know. */
  const forget = async (steps: number): Promise<string> => {
    await settle();
    for (const device of devices) await device.forget(steps);
    return 'done';
  };

  const take = async (step: Step): Promise<string> => {
    if (step.type === 'log in') return logIn(step.instance);
    if (step.type === 'refresh') return refresh(step);
    if (step.type === 'log out') return logOut(step);
    if (step.type === 'settle') return settle();
    if (step.type === 'purge') return purge();
    if (step.type === 'forget') return forget(step.steps);
    setClocks(step.by, now());
    return 'done';
  };
  return { take, devices, now };
};
