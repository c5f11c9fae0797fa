import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { type Presented, type ProveDeviceDeps, provenDevice, unproven } from '../steps/prove-device.ts';
import { type NoticeDeps, record } from '../steps/record.ts';
import {
  isStillUserWithPassword,
  type RequestWithPassword,
  type UserWithPasswordDeps,
  userWithPassword,
} from '../steps/user-with-password.ts';

export type RebindDeviceDeps = UserWithPasswordDeps &
  ProveDeviceDeps &
  NoticeDeps & { readonly unitOfWork: UnitOfWork };

type RebindInput = RequestWithPassword & { readonly presented: Presented; readonly origin?: Origin };

/**
 * Gives the session of a request another key of its device, with the password of the user.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED, AUTH_TOKEN_INVALID,
 *   CLIENT_REQUEST_RATE_LIMIT_EXCEEDED, DB_RECORD_NOT_FOUND
 */
export const rebindDevice =
  (deps: RebindDeviceDeps) =>
  async (input: RebindInput): Promise<void> => {
    const { userId, sessionId, presented, origin = NO_ORIGIN } = input;
    const user = await userWithPassword(deps, input);
    const proof = await provenDevice(deps, presented);
    if (proof === null) throw unproven('keys of devices are switched off');
    await deps.unitOfWork.run(async (stores) => {
      if (!(await isStillUserWithPassword(deps, stores, input, user))) throw new AppError('AUTH_CREDENTIALS_INVALID');
      await stores.sessions.bindPage({ id: sessionId, userId }, proof.key);
      await record(deps, stores, origin, [{ userId, kind: 'device-bound', sessionId }]);
    });
  };
