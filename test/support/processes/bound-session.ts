import { aPerson } from '../http/service.ts';
import { joseDeviceKey } from '../jose-proofs.ts';
import { ask, postJson } from './sessions-under-load.ts';

const REFRESH = '/auth/refresh-token';

/** Registers a user whose session is bound to a device, and refreshes once. @param baseUrl the BASE_URL of the service */
export const openBoundSession = async (url: string, baseUrl: string) => {
  const key = await joseDeviceKey();
  const proofFor = (path: string) => key.proof({ htu: `${baseUrl}${path}`, now: Date.now() });
  const registration = { ...aPerson(), proof: await proofFor('/auth/register') };
  const { cookie: Cookie = '' } = await postJson(`${url}/auth/register`, registration);
  const refresh = async (at: string, proof?: string) => {
    const headers = { Cookie, 'Content-Type': 'application/json' };
    const { status, code } = await ask(`${at}${REFRESH}`, { method: 'POST', headers, body: JSON.stringify({ proof }) });
    return code ?? status;
  };
  const used = await proofFor(REFRESH);
  const first = await refresh(url, used);
  if (first !== 200) throw new Error(`refreshing answered ${first}`);
  return {
    /** The answers of the service at a URL to the cookie alone, to the cookie with the used proof, and with a new proof. */
    answersAt: async (at: string) => [
      await refresh(at),
      await refresh(at, used),
      await refresh(at, await proofFor(REFRESH)),
    ],
  };
};

/** The result of `answersAt` if the service still knows the key of the session and the used proof. */
export const STILL_BOUND = ['AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED', 200];
