import { bindingOf, PROOF_TOLERANCE } from '../../domain/device-binding.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Service } from '../service.ts';
import type { Proven } from './prove-device.ts';

/** A code by which an application binds a session that was opened at the pages of the service: the log-in leads back with it (ADR 0006). */
export const makeBindingCode = ({ secrets, clock }: Service, session: SessionKey) =>
  secrets.sign({
    ...{ purpose: 'binding-code', userId: session.userId, sessionId: session.id },
    ...{ value: '', expiresAt: clock.now() + PROOF_TOLERANCE },
  });

/** Binds the session of the code to the key that the request proves. One that has a key keeps it. */
export const bindByCode = async (
  { secrets, clock, sessions }: Service,
  code: string,
  { verified, evidence: { proof } }: Pick<Proven, 'evidence'> & { readonly verified: readonly RefreshToken[] },
): Promise<void> => {
  const { sessionId: id = '', userId = '' } = secrets.unsign(code, 'binding-code', clock.now()) ?? {};
  if (proof === null || !verified.some(({ sessionId }) => sessionId === id)) return;
  const session = await sessions.find({ id, userId });
  if (session !== null && bindingOf(session) === 'none') await sessions.bindPage(session, proof.key);
};
