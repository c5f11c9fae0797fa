import * as v from 'valibot';
import { type Route, route } from '../routing/define-route.ts';

/** The browser client as a module: `client/`, ADR 0037. */
export const clientRoutes = (module: string): Route[] => [
  route(
    {
      name: 'client',
      tag: 'documents',
      summary: 'Return the browser client as a JavaScript module',
      method: 'GET',
      path: '/client.js',
      auth: 'public',
      throttle: 'public',
      response: {
        data: v.pipe(v.string(), v.examples(['export { AuthError, createAuthClient };'])),
        unwrapped: { type: 'text/javascript; charset=utf-8', cacheControl: 'public, max-age=300', embeddable: true },
      },
    },
    () => module,
  ),
];
