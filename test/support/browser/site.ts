import { createServer } from 'node:http';
import { listenOnLoopback } from '../listen.ts';

/** A web site for the tests. */
export type Site = {
  readonly origin: string;
  /** @returns the URL of the page, below `/auth` as the path of the refresh cookie, since all ports of a host share cookies */
  readonly publish: (html: string) => string;
  /** @returns a URL that redirects to `location` */
  readonly redirect: (location: string) => string;
  readonly close: () => Promise<void>;
};

/**
 * `localhost` and `127.0.0.1` are two sites. Two ports of a host, or two hosts of `tandem.localhost`, are two origins of one site. Chromium trusts all of
 * them as it trusts `localhost`.
 */
export type Host = 'localhost' | '127.0.0.1' | `${string}.tandem.localhost`;

export const openSite = async (host: Host): Promise<Site> => {
  const pages = new Map<string, { readonly html: string } | { readonly location: string }>();
  const server = createServer(({ url = '' }, response) => {
    const page = pages.get(url.split('?')[0] ?? '') ?? { html: '' };
    if ('location' in page) response.writeHead(302, { Location: page.location }).end();
    else response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<!doctype html>${page.html}`);
  });
  const { port, close } = await listenOnLoopback(server);
  const origin = `http://${host}:${port}`;
  const put = (page: { readonly html: string } | { readonly location: string }): string => {
    const path = `/auth/page-${pages.size}`;
    pages.set(path, page);
    return origin + path;
  };
  return { origin, publish: (html) => put({ html }), redirect: (location) => put({ location }), close };
};
