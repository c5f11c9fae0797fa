import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';
import type { ProofTarget } from '../../../application/ports/proofs.ts';
import type { Cancellation } from '../../../application/service.ts';
import type { OpenedSession } from '../../../application/sessions/open-session.ts';
import type { Presented, PresentedProof } from '../../../application/sessions/prove-device.ts';
import { type Device, shortUserAgent } from '../../../domain/device.ts';
import type { Origin } from '../../../domain/event.ts';
import { BASE_LOCALE, canonicalLocale, fallbacksOf, preferredLocale } from '../../../domain/text.ts';
import { httpFailure } from '../errors/exceptions.ts';
import { headerValues } from '../stages/arrival.ts';
import type { BrowserSession } from './browser-session.ts';
import { BOUND_COOKIE, type HttpOnlyCookie, isCrossSite, PAGE_LOCALE_COOKIE, type SessionCookies } from './cookies.ts';

/** Some proxies append the port of the client's connection to its address. */
const WITH_PORT = /^(?:(?<ipv4>[\d.]+)|\[(?<ipv6>[^\]]+)\])(?::\d{1,5})?$/;

/** The address that a page server names, that of X-Forwarded-For as far as TRUST_PROXY allows, or that of the connection; `null`: it is closed. */
const clientAddress = (ctx: Context): string | null =>
  (ctx.state.pageServer === undefined ? null : addressIn(ctx.state.pageServer.visitor)) ??
  addressIn(ctx.ip) ??
  addressIn(ctx.req.socket.remoteAddress ?? '');

/** The key that a rate limit counts by: the IPv4 address, or the /64 network of the IPv6 address. */
export const clientKey = (ctx: Context): string => clientNetworks(ctx).at(-1) ?? 'unknown';

/** The client's networks of 16 and 24 bits (IPv4) or 32 and 48 bits (IPv6), then its key. One client may control many keys. ADR 0008. */
export const clientNetworks = (ctx: Context): readonly string[] => {
  const address = clientAddress(ctx);
  return address === null ? ['unknown'] : networksOf(address);
};

const addressIn = (text: string): string | null => {
  const { ipv4, ipv6 } = WITH_PORT.exec(text)?.groups ?? {};
  const address = ipv4 ?? ipv6 ?? text;
  // A zone names an interface of the machine that wrote the address. It may be of any length (RFC 4007 §11).
  return isIP(address) === 0 ? null : address.replace(/%.*/s, '');
};

/** Less than 1 KB each. */
const MAX_CACHED = 1_000;
const cachedNetworks = new Map<string, readonly string[]>();

/** Parsing an address takes as long as a whole stage. */
const networksOf = (address: string): readonly string[] => {
  const cached = cachedNetworks.get(address);
  if (cached !== undefined) return cached;
  const networks = parsedNetworks(address);
  if (cachedNetworks.size === MAX_CACHED) cachedNetworks.clear();
  cachedNetworks.set(address, networks);
  return networks;
};

const parsedNetworks = (address: string): readonly string[] => {
  const parsed = ipaddr.process(address);
  const family = parsed instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const networkOf = (bits: number) => `${family.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`;
  // A client can choose the rest of its IPv6 address.
  return family === ipaddr.IPv4
    ? [networkOf(16), networkOf(24), `${parsed}`]
    : [networkOf(32), networkOf(48), networkOf(64)];
};

const deviceOf = (ctx: Context): Device => {
  const [, network = null] = clientNetworks(ctx);
  return { userAgent: shortUserAgent(ctx.get('user-agent')), address: network };
};

export const originOf = (ctx: Context): Origin => ({ ...deviceOf(ctx), requestId: ctx.request.id });

/**
 * The bound cookies of a request, and the proof in its body. The proof may be for BASE_URL or for the host of the request, since a service can
 * have several names, and no page can sign for the name of another.
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

/** The request that a gateway asks about, in the headers of Traefik and Caddy. docs has the configuration of nginx. */
const targetOfGateway = (ctx: Context): ProofTarget => {
  const [path] = ctx.get('X-Forwarded-Uri').split('?', 1);
  const url = `http://${ctx.get('X-Forwarded-Host')}${path}`;
  return { method: ctx.get('X-Forwarded-Method'), urls: URL.canParse(url) ? [url] : [] };
};

/**
 * The proof with an access token (RFC 9449 §7.1). It must be for BASE_URL: pages also sign for other services, which could pass a proof on with
 * their own name as the host. Several headers are joined, so that they are malformed.
 */
export const presentedProof = (
  ctx: Context,
  accessToken: string,
  { baseUrl, isOfGateway }: { readonly baseUrl: string; readonly isOfGateway: boolean },
): PresentedProof => ({
  text: headerValues(ctx.req, 'dpop').join(', '),
  accessToken,
  ...(isOfGateway ? targetOfGateway(ctx) : { method: ctx.method, urls: [baseUrl + ctx.path] }),
});

/**
 * Aborted if the client has hung up, and so cannot get the response. A busy process may have read the request, but not yet the end of the
 * connection. So this waits for a whole turn of the event loop, which begins in the first pause, and has ended after the second.
 */
export const clientCancellation = async ({ req }: Context): Promise<Cancellation> => {
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  return {
    throwIfAborted() {
      // Node's server ends its side when the client has ended the other.
      if (!req.socket.writable) throw httpFailure(400, { reason: 'the client has hung up', level: 'info' });
    },
  };
};

/** What routes read from the client's device, and send to it. */
export type DeviceAccess = {
  readonly cookie: SessionCookies;
  readonly pendingLogin: HttpOnlyCookie;
  readonly rememberedDevice: HttpOnlyCookie;
  readonly device: PresentedDevice;
  /** `null`: browsers hold no keys. */
  readonly browser: BrowserSession | null;
  /** Links an identity at a provider, which the browser has kept, to the account that it logs in to. `undefined`: there are no providers. */
  readonly linkKept: ((ctx: Context, session: OpenedSession) => Promise<void>) | undefined;
};

export const PROOF_ERRORS = ['AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED'] as const;

/** The client of a log-in. A refresh token of the account identifies a known device. ADR 0008. */
export const loginSourceOf = (ctx: Context, access: DeviceAccess, proof: string | undefined) => ({
  ...clientContext(ctx),
  networks: clientNetworks(ctx),
  presented: access.device(ctx, proof),
  refreshTokens: access.cookie.readOwn(ctx),
  pendingLogins: access.pendingLogin.readOwn(ctx),
  rememberedDevices: access.rememberedDevice.readOwn(ctx),
});

/** Browsers send less than 200 characters. A longer header is ignored. */
const ACCEPT_LANGUAGE_MAX_LENGTH = 1_000;

/** The language that was chosen on a page, then those of `Accept-Language` (RFC 9110 §12.5.4), in their canonical form. */
const acceptedLocales = (ctx: Context): string[] => {
  const accepted = ctx.get('Accept-Language').length > ACCEPT_LANGUAGE_MAX_LENGTH ? [] : ctx.acceptsLanguages();
  const chosen = ctx.request.cookies.get(PAGE_LOCALE_COOKIE) ?? [];
  return [...chosen, ...accepted].flatMap((language) => canonicalLocale(language) ?? []);
};

export const clientContext = (ctx: Context) => ({ locales: acceptedLocales(ctx), origin: originOf(ctx) });

/** The offered language that the browser prefers, or else the default one of the service. */
export const pageLocale = (ctx: Context, defaultLocale: string, offered: readonly string[]): string =>
  fallbacksOf(preferredLocale(acceptedLocales(ctx), offered), defaultLocale).find((each) => offered.includes(each)) ??
  BASE_LOCALE;
