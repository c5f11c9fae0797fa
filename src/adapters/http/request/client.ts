import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';
import type { ProofTarget } from '../../../application/ports/proofs.ts';
import type { Cancellation } from '../../../application/service.ts';
import type { OpenedSession } from '../../../application/sessions/open-session.ts';
import type { PresentedDevice, PresentedProof } from '../../../application/sessions/prove-device.ts';
import { shortUserAgent } from '../../../domain/device.ts';
import type { Origin } from '../../../domain/event.ts';
import { BASE_LOCALE, canonicalLocale, fallbacksOf, preferredLocale } from '../../../domain/text.ts';
import { httpFailure } from '../errors/exceptions.ts';
import { headerValues } from '../stages/arrival.ts';
import type { DeviceBoundSessions } from './browser-session.ts';
import { BOUND_COOKIE, type HttpOnlyCookie, isCrossSite, PAGE_LOCALE_COOKIE, type SessionCookies } from './cookies.ts';

/** An IPv4 address, or an IPv6 address in brackets. Some proxies append the port of the client's connection. */
const ADDRESS_WITH_PORT = /^(?:(?<ipv4>[\d.]+)|\[(?<ipv6>[^\]]+)\])(?::\d{1,5})?$/;

/** The address that a page server states, else that which TRUST_PROXY chooses in X-Forwarded-For, else that of the connection; `null`: there is none. */
const clientAddress = (ctx: Context): string | null =>
  (ctx.state.pageServer === undefined ? null : ipAddressIn(ctx.state.pageServer.visitor)) ??
  ipAddressIn(ctx.ip) ??
  ipAddressIn(ctx.req.socket.remoteAddress ?? '');

/** The key by which requests of a client are counted: its IPv4 address, or the /64 network of its IPv6 address, or `unknown`. */
export const clientKey = (ctx: Context): string => clientNetworks(ctx).at(-1) ?? 'unknown';

/** The client's networks of 16 and 24 bits (IPv4) or 32 and 48 bits (IPv6), if its address is known, then its `clientKey` (ADR 0008). */
export const clientNetworks = (ctx: Context): readonly string[] => {
  const address = clientAddress(ctx);
  return address === null ? ['unknown'] : networksOf(address);
};

const ipAddressIn = (text: string): string | null => {
  const { ipv4, ipv6 } = ADDRESS_WITH_PORT.exec(text)?.groups ?? {};
  const address = ipv4 ?? ipv6 ?? text;
  // Removes the zone (RFC 4007 §11): it names an interface of the machine that wrote the address, and may be of any length.
  return isIP(address) === 0 ? null : address.replace(/%.*/s, '');
};

/** Entries of `cachedNetworks`, of less than 1 KB each. */
const MAX_CACHED_NETWORKS = 1_000;
const cachedNetworks = new Map<string, readonly string[]>();

const networksOf = (address: string): readonly string[] => {
  const cached = cachedNetworks.get(address);
  if (cached !== undefined) return cached;
  const networks = parseNetworks(address);
  if (cachedNetworks.size === MAX_CACHED_NETWORKS) cachedNetworks.clear();
  cachedNetworks.set(address, networks);
  return networks;
};

const parseNetworks = (address: string): readonly string[] => {
  const parsed = ipaddr.process(address);
  const family = parsed instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const networkOf = (bits: number) => `${family.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`;
  // Of an IPv6 address, a client can choose the last 64 bits.
  return family === ipaddr.IPv4
    ? [networkOf(16), networkOf(24), `${parsed}`]
    : [networkOf(32), networkOf(48), networkOf(64)];
};

export const eventOriginOf = (ctx: Context): Origin => {
  const [, network = null] = clientNetworks(ctx);
  return { userAgent: shortUserAgent(ctx.get('user-agent')), address: network, requestId: ctx.request.id };
};

/**
 * What a request shows of its device: the bound cookies, and the proof in its body. A service may have several host names, and the client's script
 * signs for the one from which it was loaded. So the proof may be for BASE_URL or for the host of the request.
 */
export const presentedDeviceReader =
  (baseUrl: string) =>
  (ctx: Context, proof: string | undefined): PresentedDevice => {
    const boundCookies = isCrossSite(ctx) ? [] : (ctx.request.cookies.get(BOUND_COOKIE) ?? []);
    if (proof === undefined) return { proof: null, boundCookies };
    const { method, path, host } = ctx;
    const urls = [`${baseUrl}${path}`, `http://${host}${path}`].filter((url) => URL.canParse(url));
    return { proof: { text: proof, method, urls }, boundCookies };
  };

export type ReadPresentedDevice = ReturnType<typeof presentedDeviceReader>;

/** The request about which a gateway asks, in the headers of Traefik and Caddy. examples/resource-server/nginx.conf sets the same ones. */
const targetOfGateway = (ctx: Context): ProofTarget => {
  const [path] = ctx.get('X-Forwarded-Uri').split('?', 1);
  const url = `http://${ctx.get('X-Forwarded-Host')}${path}`;
  return { method: ctx.get('X-Forwarded-Method'), urls: URL.canParse(url) ? [url] : [] };
};

/**
 * The DPoP proof with an access token (RFC 9449 §7.1). It must be for BASE_URL, or for the URL that a gateway states: pages also sign proofs for other
 * services, and such a service could send a proof here with its own name as the `Host`. Several `DPoP` headers are joined, which makes them malformed.
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
 * Cancels the work for a client that has hung up, since it cannot get the response. A busy process may have read the request, but not yet the end
 * of the connection. Two `setImmediate` contain a whole turn of the event loop, in which Node.js reads the end of the connection, too.
 */
export const cancellationOf = async ({ req }: Context): Promise<Cancellation> => {
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  return {
    throwIfAborted() {
      // When the client has ended its side of the connection, Node's server ends its own.
      if (!req.socket.writable) throw httpFailure(400, { reason: 'the client has hung up', level: 'info' });
    },
  };
};

export type DeviceAccess = {
  readonly cookie: SessionCookies;
  readonly pendingLogin: HttpOnlyCookie;
  readonly rememberedDevice: HttpOnlyCookie;
  readonly readPresentedDevice: ReadPresentedDevice;
  /** Device Bound Session Credentials. `null`: the service does not offer them to browsers. */
  readonly browser: DeviceBoundSessions | null;
  /** Links the identity kept by the browser after AUTH_IDENTITY_CONFLICT, if the log-in is to the account with its address. `undefined`: without providers. */
  readonly linkKeptIdentity: ((ctx: Context, session: OpenedSession) => Promise<void>) | undefined;
};

export const PROOF_ERRORS = ['AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED'] as const;

/** What a log-in needs to know of its client. A refresh token of the account shows that the user has logged in on this device before (ADR 0008). */
export const loginSourceOf = (ctx: Context, deviceAccess: DeviceAccess, proof: string | undefined) => ({
  ...clientContext(ctx),
  networks: clientNetworks(ctx),
  presented: deviceAccess.readPresentedDevice(ctx, proof),
  refreshTokens: deviceAccess.cookie.readOwn(ctx),
  pendingLogins: deviceAccess.pendingLogin.readOwn(ctx),
  rememberedDevices: deviceAccess.rememberedDevice.readOwn(ctx),
});

/** Characters. A longer header is ignored. */
const ACCEPT_LANGUAGE_MAX_LENGTH = 1_000;

/** Canonical language tags: first the language that was chosen on a page, then the languages of `Accept-Language` (RFC 9110 §12.5.4). */
const acceptedLocales = (ctx: Context): string[] => {
  const acceptedTags = ctx.get('Accept-Language').length > ACCEPT_LANGUAGE_MAX_LENGTH ? [] : ctx.acceptsLanguages();
  const chosenTags = ctx.request.cookies.get(PAGE_LOCALE_COOKIE) ?? [];
  return [...chosenTags, ...acceptedTags].flatMap((language) => canonicalLocale(language) ?? []);
};

export const clientContext = (ctx: Context) => ({ locales: acceptedLocales(ctx), origin: eventOriginOf(ctx) });

/** The language of a page: of `offered`, the one that the visitor chose, or else that the browser prefers, or else `defaultLocale`, or else English. */
export const pageLocale = (ctx: Context, defaultLocale: string, offered: readonly string[]): string =>
  fallbacksOf(preferredLocale(acceptedLocales(ctx), offered), defaultLocale).find((each) => offered.includes(each)) ??
  BASE_LOCALE;
