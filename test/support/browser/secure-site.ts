import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { selfSigned } from '../certificate.ts';
import { forward, relay } from '../forward.ts';
import { listenOnLoopback } from '../listen.ts';

const [SERVICE, APPLICATION] = ['auth.example.test', 'app.example.test'];

/** The purpose of a request of a browser. Preflights are `other`, too. */
export type Step = 'log-in' | 'registration' | 'question' | 'proof' | 'refresh' | 'other';

/** Cuts the connection of a request, before (`request`) or after (`response`) the service handles it. */
export type Cut = {
  readonly step: Step;
  readonly lost: 'request' | 'response';
  /** Called before the connection is cut. */
  readonly strike: () => Promise<unknown>;
};

/** Makes Chromium find the sites of this file, with TLS: it registers keys only for sites whose certificate it trusts. */
export const RESOLVER_RULES = '--host-resolver-rules=MAP *.example.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';
/** Turns on Device Bound Session Credentials with software keys, since the machine may have no TPM. */
export const BINDING =
  '--enable-features=DeviceBoundSessions,EnableBoundSessionCredentialsSoftwareKeysForManualTesting';

/** All sites have the same certificate, so that tests can share a browser that trusts it. */
const certificate = await selfSigned('*.example.test');

/** A proxy that ends TLS for a service and an application, two origins of one site. */
export const openSecureSite = async () => {
  const seen: string[] = [];
  let target = '';
  let cut: Cut | null = null;
  let page = '<title>application</title>';
  let application: RequestListener = (_, outgoing) =>
    outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html>${page}`);

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const step = stepOf(incoming);
    const own = cut?.step === step ? cut : null;
    if (own !== null) cut = null;
    if (own?.lost === 'request') {
      await own.strike();
      outgoing.destroy();
      return;
    }
    const answer = async (response: IncomingMessage) => {
      if (step !== 'other') seen.push(`${step} ${response.statusCode}`);
      await own?.strike();
      if (own !== null) outgoing.destroy();
      else relay(response, outgoing);
    };
    forward(incoming, outgoing, new URL(incoming.url ?? '/', target), { answer });
  };

  const server = createServer(certificate, (incoming, outgoing) => {
    if (incoming.headers.host?.startsWith(SERVICE)) void pass(incoming, outgoing);
    else application(incoming, outgoing);
  });
  const { port, close } = await listenOnLoopback(server);
  const service = `https://${SERVICE}:${port}`;
  const origin = `https://${APPLICATION}:${port}`;
  return {
    certificate: certificate.cert,
    service,
    application: origin,
    env: { BASE_URL: service, ALLOWED_ORIGINS_DEV: origin, JWT_REFRESH_COOKIE_SECURE: 'true' },
    /** Returns and forgets the steps since the last call, each with its status. */
    take: (): string[] => seen.splice(0),
    seen: (): readonly string[] => seen,
    /** Sets the URL of the service, to which requests go from now on. */
    serve: (url: string): void => {
      target = url;
    },
    /** Cuts the connection of the next request of this step. */
    cut: (next: Cut | null): void => {
      cut = next;
    },
    /** Sets the page of the application. */
    publish: (html: string): void => {
      page = html;
    },
    /** Sets a server of the application, which replaces its page. */
    run: (listener: RequestListener): void => {
      application = listener;
    },
    close,
  };
};

export type SecureSite = Awaited<ReturnType<typeof openSecureSite>>;

const stepOf = ({ method, url, headers }: IncomingMessage): Step => {
  if (method !== 'POST') return 'other';
  if (url === '/auth/refresh-token') return 'refresh';
  if (url === '/auth/register' || url === '/auth/login') return 'log-in';
  if (url !== '/auth/device') return 'other';
  if (headers['sec-secure-session-id'] === undefined) return 'registration';
  return headers['secure-session-response'] === undefined ? 'question' : 'proof';
};
