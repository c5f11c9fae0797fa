import * as v from 'valibot';
import { type Route, route } from '../routing/define-route.ts';

type Modules = {
  readonly session: string;
  /** Imports the other one. */
  readonly account: string;
};

/** The browser client as modules: `client/`, ADR 0037. */
export const clientRoutes = ({ session, account }: Modules): Route[] => [
  moduleRoute(
    {
      name: 'client',
      summary: 'Return the browser client as a JavaScript module',
      path: '/client.js',
      example: 'export { AuthError, createAuthClient };',
    },
    session,
  ),
  moduleRoute(
    {
      name: 'client-account',
      summary: 'Return the calls about an account as a JavaScript module, for the browser client',
      path: '/client-account.js',
      example: 'export { createAccountClient };',
    },
    account,
  ),
];

type Module = Pick<Route, 'name' | 'summary' | 'path'> & { readonly example: string };

const moduleRoute = ({ example, ...rest }: Module, text: string): Route =>
  route(
    {
      ...rest,
      tag: 'documents',
      method: 'GET',
      auth: 'public',
      throttle: 'public',
      response: {
        data: v.pipe(v.string(), v.examples([example])),
        unwrapped: { type: 'text/javascript; charset=utf-8', cacheControl: 'public, max-age=300', embeddable: true },
      },
    },
    () => text,
  );
