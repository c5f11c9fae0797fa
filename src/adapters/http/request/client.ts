import { isIP } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';
import type { ProofTarget } from '../../../application/ports/proofs.ts';
import type { Cancellation } from '../../../application/service.ts';
import type { OpenedSession } from '../../../application/sessions/open-session.ts';
import type { Presented, PresentedProof } from '../../../application/sessions/prove-device.ts';
import { type Device, type Origin, shortUserAgent } from '../../../domain/event.ts';
import { canonicalLocale, fallbacksOf, LAST_LOCALE, preferredLocale } from '../../../domain/locale.ts';
import { httpFailure } from '../errors/exceptions.ts';
import { headerValues } from '../stages/arrival.ts';
import type { BrowserSession } from './browser-session.ts';
import { BOUND_COOKIE, type HttpOnlyCookie, isCrossSite, PAGE_LOCALE_COOKIE, type SessionCookies } from './cookies.ts';

/** Some proxies append the port of the client's connection to its address. */
const WITH_PORT = /^(?:(?<ipv4>[\d.]+)|\[(?<ipv6>[^\]]+)\])(?::\d{1,5})?$/;

/**
 * The client's address: from X-Forwarded-For, of which Koa reads as many hops as TRUST_PROXY allows, or else that of the connection. For a
 * page server it is that of its visitor. `null` when the connection is closed.
 */
const clientAddress = (ctx: Context): string | null =>
  (ctx.state.pageServer === undefined ? null : addressIn(ctx.state.pageServer.visitor)) ??
  addressIn(ctx.ip) ??
  addressIn(ctx.req.socket.remoteAddress ?? '');

/** Addresses whose networks are remembered: less than 1 KB each. */
const MAX_REMEMBERED = 1_000;
const remembered = new Map<string, readonly string[]>();

/** The key that a rate limit counts by: the IPv4 address, or the /64 network of the IPv6 address. */
export const clientKey = (ctx: Context): string => clientNetworks(ctx).at(-1) ?? 'unknown';

/**
 * The client's networks, the widest first, and its key at the end: /16 and /24 of IPv4, /32 and /48 of IPv6. A client that
 * controls a wide network has many keys. ADR 0008.
 */
export const clientNetworks = (ctx: Context): readonly string[] => {
  const address = clientAddress(ctx);
  return address === null ? ['unknown'] : networksOf(address);
};

const addressIn = (text: string): string | null => {
  if (isIP(text) !== 0) return withoutZone(text);
  const { ipv4, ipv6 } = WITH_PORT.exec(text)?.groups ?? {};
  const address = ipv4 ?? ipv6 ?? text;
  return isIP(address) === 0 ? null : withoutZone(address);
};

/** The zone names an interface of the machine that wrote the address. It may be of any length (RFC 4007 §11). */
const withoutZone = (address: string): string => {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
};

/** Remembers the networks of an address: parsing it takes as long as a whole stage. */
const networksOf = (address: string): readonly string[] => {
  const known = remembered.get(address);
  if (known !== undefined) return known;
  const networks = parsedNetworks(address);
  if (remembered.size === MAX_REMEMBERED) remembered.clear();
  remembered.set(address, networks);
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

/** The device that sent the request: its user agent, and its network of 24 bits of IPv4 or 48 bits of IPv6. */
export const deviceOf = (ctx: Context): Device => {
  const [, network = null] = clientNetworks(ctx);
  return { userAgent: shortUserAgent(ctx.get('User-Agent')), address: network };
};

export const originOf = (ctx: Context): Origin => ({ ...deviceOf(ctx), requestId: ctx.request.id });

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

/** The request that a gateway asks about: as nginx is told to say it, and Traefik and Caddy do. */
const targetOfGateway = (ctx: Context): ProofTarget => {
  const [path] = ctx.get('X-Forwarded-Uri').split('?', 1);
  const url = `http://${ctx.get('X-Forwarded-Host')}${path}`;
  return { method: ctx.get('X-Forwarded-Method'), urls: URL.canParse(url) ? [url] : [] };
};

/**
 * The proof that a request with an access token presents (RFC 9449 §7.1), for BASE_URL alone: pages sign for other services as well, and one of those
 * could pass a proof on, with its own name as the host. Several are joined, which is malformed.
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
 * Aborted when the client has hung up: none of the response has been sent then, nor will be. A busy process reads a request long after it
 * was sent, and the end of the connection only after that. So this waits until what has arrived is read: a turn of the event loop begins in the first
 * pause, and has ended after the second.
 */
export const clientCancellation = async ({ req }: Context): Promise<Cancellation> => {
  await turn();
  await turn();
  return {
    throwIfAborted() {
      // Node's server ends its side when the client has ended the other.
      if (!req.socket.writable) throw httpFailure(400, { reason: 'the client has hung up', level: 'info' });
    },
  };
};

/** How the routes see the device of a request, and what they send it. */
export type DeviceAccess = {
  readonly cookie: SessionCookies;
  readonly pendingLogin: HttpOnlyCookie;
  readonly rememberedDevice: HttpOnlyCookie;
  readonly device: PresentedDevice;
  /** `null`: browsers hold no keys. */
  readonly browser: BrowserSession | null;
  /** Links to an account what the browser has kept of a sign-in before it has logged in. `undefined`: there are no providers. */
  readonly linkKept: ((ctx: Context, session: OpenedSession) => Promise<void>) | undefined;
};

/** Of a request whose proof of its device is missing, not valid, or of another time. */
export const PROOF_ERRORS = ['AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED'] as const;

/** Where a log-in comes from. A refresh token of the account identifies a known device. ADR 0008. */
export const loginSourceOf = (ctx: Context, access: DeviceAccess, proof: string | undefined) => ({
  ...clientContext(ctx),
  networks: clientNetworks(ctx),
  presented: access.device(ctx, proof),
  refreshTokens: access.cookie.readOwn(ctx),
  /** What the browser got earlier in this log-in, and in one before. */
  pendingLogins: access.pendingLogin.readOwn(ctx),
  rememberedDevices: access.rememberedDevice.readOwn(ctx),
});

/** Characters. Browsers send less than 200. */
const MAX_LENGTH = 1_000;

/** The language that was chosen on a page, then those of `Accept-Language` (RFC 9110 §12.5.4), canonical, unless the header is too long. */
const acceptedLocales = (ctx: Context): string[] => {
  const accepted = ctx.get('Accept-Language').length > MAX_LENGTH ? [] : ctx.acceptsLanguages();
  const chosen = ctx.request.cookies.get(PAGE_LOCALE_COOKIE) ?? [];
  return [...chosen, ...accepted].flatMap((language) => canonicalLocale(language) ?? []);
};

/** The languages of the client, for a mail to it, and where its request came from. */
export const clientContext = (ctx: Context) => ({ locales: acceptedLocales(ctx), origin: originOf(ctx) });

/** The language of a page for a user: one of those offered that the browser asks for, or else the default one of the service. */
export const pageLocale = (ctx: Context, defaultLocale: string, offered: readonly string[]): string =>
  fallbacksOf(preferredLocale(acceptedLocales(ctx), offered), defaultLocale).find((each) => offered.includes(each)) ??
  LAST_LOCALE;
