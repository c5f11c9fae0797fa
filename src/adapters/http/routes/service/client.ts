import type { Route } from '../../routing/define-route.ts';
import { documentRoute, textLike } from '../../routing/document-route.ts';

const UNWRAPPED = {
  type: 'text/javascript; charset=utf-8',
  cacheControl: 'public, max-age=300',
  embeddable: true,
} as const;

/** By their names. The others import the first. */
const MODULES = {
  client: ['Return the browser client as a JavaScript module', 'AuthError, createAuthClient'],
  'client-account': [
    'Return the calls about an account as a JavaScript module, for the browser client',
    'createAccountClient',
  ],
  'client-passkeys': [
    'Return the calls about passkeys as a JavaScript module, for the browser client',
    'createPasskeyClient',
  ],
} as const;

/** The browser client as modules: `client/`, ADR 0023. @param read returns the text of a file. */
export const clientRoutes = (read: (file: string) => string): Route[] =>
  Object.entries(MODULES).map(([name, [summary, exported]]) => {
    const path = `/${name}.js` as const;
    const text = read(`${name}.js`);
    const data = textLike(`export { ${exported} };`);
    return documentRoute({ name, tag: 'documents', summary, path, data, unwrapped: UNWRAPPED }, () => text);
  });
