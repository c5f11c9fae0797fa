import type { Context } from 'koa';
import type { Presented } from '../../../application/steps/prove-device.ts';

/**
 * What a request presents of its device: the proof in its body. It may be for BASE_URL, or for the host that the request names: a service
 * can have several names, and no page can sign for another one's.
 */
export const presentedDevice =
  (baseUrl: string) =>
  ({ method, path, host }: Context, proof: string | undefined): Presented => {
    if (proof === undefined) return { proof: null };
    const urls = [`${baseUrl}${path}`, `http://${host}${path}`].filter((url) => URL.canParse(url));
    return { proof: { text: proof, method, urls } };
  };

export type PresentedDevice = ReturnType<typeof presentedDevice>;
