import type { Origin } from '../../domain/event.ts';
import { RESET_LIFETIME } from '../../domain/link.ts';
import type { User } from '../../domain/user.ts';
import type { LinkTokens } from '../ports/link-tokens.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { type RecordDeps, record } from '../steps/record.ts';

export type MakeResetLinkDeps = RecordDeps & {
  readonly unitOfWork: UnitOfWork;
  readonly linkTokens: LinkTokens;
};

type ResetLink = {
  /** Kept by nobody else: only its hash is stored. */
  readonly token: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
};

/** Makes a link with which a user can set a new password, for an operator to hand over. It replaces one that was sent before. */
export const makeResetLink =
  (deps: MakeResetLinkDeps) =>
  async ({ id: userId, email }: Pick<User, 'id' | 'email'>, origin: Origin): Promise<ResetLink> => {
    const createdAt = deps.clock.now();
    const expiresAt = createdAt + RESET_LIFETIME;
    const token = deps.linkTokens.next();
    const tokenHash = deps.linkTokens.hashOf(token);
    await deps.unitOfWork.run(async (stores) => {
      await stores.links.put({ userId, purpose: 'password-reset', tokenHash, email, createdAt, expiresAt });
      await record(deps, stores, origin, [{ userId, kind: 'password-reset-requested' }]);
    });
    return { token, expiresAt };
  };
