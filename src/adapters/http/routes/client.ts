import type { Route } from '../routing/define-route.ts';
import { documentRoute, textLike } from '../routing/document-route.ts';

type Modules = {
  readonly session: string;
  /** Imports the first one. */
  readonly account: string;
  /** Imports the first one. */
  readonly passkeys: string;
};

const MODULE = {
  type: 'text/javascript; charset=utf-8',
  cacheControl: 'public, max-age=300',
  embeddable: true,
} as const;

/** The browser client as modules: `client/`, ADR 0037. */
export const clientRoutes = ({ session, account, passkeys }: Modules): Route[] => [
  documentRoute(
    {
      name: 'client',
      tag: 'documents',
      summary: 'Return the browser client as a JavaScript module',
      path: '/client.js',
      data: textLike('export { AuthError, createAuthClient };'),
      unwrapped: MODULE,
    },
    () => session,
  ),
  documentRoute(
    {
      name: 'client-account',
      tag: 'documents',
      summary: 'Return the calls about an account as a JavaScript module, for the browser client',
      path: '/client-account.js',
      data: textLike('export { createAccountClient };'),
      unwrapped: MODULE,
    },
    () => account,
  ),
  documentRoute(
    {
      name: 'client-passkeys',
      tag: 'documents',
      summary: 'Return the calls about passkeys as a JavaScript module, for the browser client',
      path: '/client-passkeys.js',
      data: textLike('export { createPasskeyClient };'),
      unwrapped: MODULE,
    },
    () => passkeys,
  ),
];
