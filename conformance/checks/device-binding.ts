import type { Check } from '../check.ts';
import type { Reply } from '../client.ts';
import { asCookie } from '../cookies.ts';
import type { Device } from '../device.ts';
import { errorOf, hold } from '../expectations.ts';
import { type Tokens, tokensOf, type World } from '../world.ts';

const SOURCE = ['0006', 'A session can be bound to a key of its device'] as const;
const PATH = '/auth/refresh-token';

type Bound = {
  readonly device: Device;
  /** The tokens of the registration. With a proof, the old refresh token works, too. */
  readonly first: Tokens;
  readonly refresh: (token: string, proof: string) => Promise<Reply>;
};

/** The session of the second account, which was registered with a proof. Skips the check when the instance binds no sessions. */
const boundSession = async ({ device, secondRegistered, send }: World): Promise<Bound> => ({
  device: await device(),
  first: tokensOf(await secondRegistered()),
  refresh: (token, proof) => send({ method: 'POST', path: PATH, headers: asCookie(token), body: { proof } }),
});

const refreshProven = async (world: World): Promise<void> => {
  const { device, first, refresh } = await boundSession(world);
  const next = tokensOf(await refresh(first.refresh, device.proof(PATH)));
  hold(next.refresh !== first.refresh, 'another refresh token', 'the same');
};

const recoverLostResponse = async (world: World): Promise<void> => {
  const { device, first, refresh } = await boundSession(world);
  tokensOf(await refresh(first.refresh, device.proof(PATH)));
  const again = tokensOf(await refresh(first.refresh, device.proof(PATH)));
  tokensOf(await refresh(again.refresh, device.proof(PATH)));
};

const refuseCopies = async (world: World): Promise<void> => {
  const { device, first, refresh } = await boundSession(world);
  errorOf(await world.refresh(first.refresh), 401, 'AUTH_DEVICE_UNPROVEN');
  const { refresh: current } = tokensOf(await refresh(first.refresh, device.proof(PATH)));
  errorOf(await world.refresh(current), 401, 'AUTH_DEVICE_UNPROVEN');
  errorOf(await refresh(current, device.proofOfAnotherKey(PATH)), 401, 'AUTH_DEVICE_UNPROVEN');
  tokensOf(await refresh(current, device.proof(PATH)));
};

const refuseUsedProofs = async (world: World): Promise<void> => {
  const { device, first, refresh } = await boundSession(world);
  const proof = device.proof(PATH);
  const next = tokensOf(await refresh(first.refresh, proof));
  for (const token of [next.refresh, first.refresh]) errorOf(await refresh(token, proof), 401, 'AUTH_PROOF_EXPIRED');
};

/** Sessions that a registration with a proof has bound. */
export const deviceBinding: readonly Check[] = [
  {
    id: 'device-refresh',
    source: SOURCE,
    title: 'a bound session is refreshed with a proof of its device',
    run: refreshProven,
  },
  {
    id: 'device-lost-response',
    source: SOURCE,
    title: 'an old token with a new proof answers 200 with tokens that work',
    run: recoverLostResponse,
  },
  {
    id: 'device-copied-cookie',
    source: SOURCE,
    title: 'the cookie without a proof of its device answers 401 AUTH_DEVICE_UNPROVEN, and the session lives',
    run: refuseCopies,
  },
  {
    id: 'device-used-proof',
    source: SOURCE,
    title: 'a proof that was used answers 401 AUTH_PROOF_EXPIRED',
    run: refuseUsedProofs,
  },
];
