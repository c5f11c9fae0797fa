import type { Context } from 'koa';
import type { Presented } from '../../../application/steps/prove-device.ts';
import { BOUND_COOKIE, isCrossSite } from './refresh-cookie.ts';

/**
 * What a request presents of its device: the bound cookies of its browser, and the proof in its body. The proof may be for BASE_URL, or for
 * the host that the request names: a service can have several names, and no page can sign for another one's.
 */
export const presentedDevice =
  (baseUrl: string) =>
  (ctx: Context, proof: string | undefined): Presented => {
    const boundCookies = isCrossSite(ctx) ? [] : (ctx.request.cookies.get(BOUND_COOKIE) ?? []);
    if (proof === undefined) return { proof: null, boundCookies };
    const { method, path, host } = ctx;
    const urls = [`${baseUrl}${path}`, `http://${host}${path}`].filter((url) => URL.canParse(url));
    return { proof: { text: proof, method, urls }, boundCookies };
  };

export type PresentedDevice = ReturnType<typeof presentedDevice>;
