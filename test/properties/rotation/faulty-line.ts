import { setImmediate } from 'node:timers/promises';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { Rotation, RotationOutcome } from '../../../src/domain/session.ts';
import type { Fault } from '../../support/rotation/program.ts';

const broken = () => new AppError('DB_QUERY_FAILED', { reason: 'the line is broken' });

/** A store behind a connection that can make the next rotation fail, and then reverts nothing until the line is mended. */
export const faultyLine = (store: SessionRepository) => {
  let next: Fault = 'none';
  let met: Rotation | null = null;
  const unconfirmed = new Set<Rotation>();
  const late: Rotation[] = [];
  const tooLate: Rotation[] = [];
  let mended = false;
  const rotate = async (rotation: Rotation): Promise<RotationOutcome> => {
    const fault = next;
    next = 'none';
    if (fault === 'none' || fault === 'timed out') return store.rotate(rotation);
    unconfirmed.add(rotation);
    met = rotation;
    if (fault === 'answer lost') await store.rotate(rotation);
    if (fault === 'late') late.push(rotation);
    if (fault === 'too late') tooLate.push(rotation);
    throw broken();
  };
  const revert = async (rotation: Rotation): Promise<void> => {
    if (unconfirmed.has(rotation) && !mended) throw broken();
    await store.revert(rotation);
    unconfirmed.delete(rotation);
  };
  return {
    sessions: {
      ...store,
      rotate,
      revert,
    },
    /** Sets the fault of the next rotation, until `disarm`. */
    arm: (fault: Fault): void => {
      next = fault;
      met = null;
    },
    /** @returns the rotation that failed and is unconfirmed, if there is one. */
    disarm: (): Rotation | null => {
      next = 'none';
      return met;
    },
    /** Delivers late rotations, waits until every unconfirmed one was reverted, and delivers those that are later than that. */
    settle: async (): Promise<void> => {
      for (const rotation of late.splice(0)) await store.rotate(rotation);
      mended = true;
      while (unconfirmed.size > 0) await setImmediate();
      await setImmediate();
      mended = false;
      for (const rotation of tooLate.splice(0)) await store.rotate(rotation);
    },
  };
};
