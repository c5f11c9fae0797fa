import { createServer } from 'node:http';
import { listenOnLoopback } from './listen.ts';

/** A web site of the tests' own. */
export type Site = {
  readonly origin: string;
  /** @returns where the page is now. It lies below `/auth`, as the cookie does: hosts share cookies whatever their ports. */
  readonly publish: (html: string) => string;
  /** @returns an address that leads to another. */
  readonly redirect: (location: string) => string;
  readonly close: () => Promise<void>;
};

/** To a browser, `localhost` and `127.0.0.1` are two sites; ports of one host are two origins of one site. */
export type Host = 'localhost' | '127.0.0.1';

export const openSite = async (host: Host): Promise<Site> => {
  const answers = new Map<string, { readonly html: string } | { readonly location: string }>();
  const server = createServer(({ url = '' }, response) => {
    const answer = answers.get(url) ?? { html: '' };
    if ('location' in answer) response.writeHead(302, { Location: answer.location }).end();
    else response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<!doctype html>${answer.html}`);
  });
  const { port, close } = await listenOnLoopback(server);
  const origin = `http://${host}:${port}`;
  const put = (answer: { readonly html: string } | { readonly location: string }): string => {
    const path = `/auth/page-${answers.size}`;
    answers.set(path, answer);
    return origin + path;
  };
  return { origin, publish: (html) => put({ html }), redirect: (location) => put({ location }), close };
};
