import { basename } from 'node:path';
import { defineConfig } from 'rolldown';

/** There is one class of that name: that of the client. */
const AUTH_ERROR = /auth-error\.ts$/;

/** The script of the page, which imports the client from the service. */
export default defineConfig({
  input: 'src/main.ts',
  // The paths of modules are of no use to the reader of the page.
  experimental: { attachDebugInfo: 'none' },
  external: [/client\.js$/, AUTH_ERROR],
  output: {
    file: 'page/console.js',
    format: 'esm',
    paths: (id) => (AUTH_ERROR.test(id) ? './client.js' : `./${basename(id)}`),
  },
});
