import { defineConfig } from 'rolldown';

/** Members that only modules of the client use, so they get short names. Not those of messages between tabs. */
const INTERNAL = [
  ...['cookieLost', 'keepsNoCookie', 'mayLoseCookie', 'noResponse'],
  ...['base', 'call', 'endSession', 'exchange', 'isOurs', 'request', 'send'],
  ...['generation', 'hint', 'missed', 'announce', 'untilDue', 'margin'],
  ...['enter', 'renew', 'token', 'proven', 'proofFor', 'closeFrame'],
];

const minify = {
  compress: true,
  mangle: true,
  codegen: true,
  mangleProps: { include: new RegExp(`^(${INTERNAL.join('|')})$`) },
};
const output = { format: 'esm', comments: false } as const;

/** The files for the package; the service sends all but the server's under the same names. They use the AuthError of the first. */
export default defineConfig([
  { input: 'src/index.ts', output: { ...output, minify, file: 'dist/client.js' } },
  {
    input: 'src/account.ts',
    external: [/auth-error\.ts$/],
    output: { ...output, minify: true, file: 'dist/client-account.js', paths: () => './client.js' },
  },
  {
    input: 'src/passkeys.ts',
    external: [/auth-error\.ts$/],
    output: { ...output, minify: true, file: 'dist/client-passkeys.js', paths: () => './client.js' },
  },
  {
    input: 'src/server.ts',
    external: [/auth-error\.ts$/, 'jose'],
    output: { ...output, file: 'dist/server.js', paths: (id) => (id === 'jose' ? id : './client.js') },
  },
  ...['react', 'svelte', 'vue'].map((framework) => ({
    input: `src/${framework}.ts`,
    external: ['react', 'svelte/store', 'vue'],
    output: { ...output, minify: true, file: `dist/${framework}.js` },
  })),
  { input: 'src/device-key.ts', output: { ...output, minify: true, file: 'dist/device-key.js' } },
  {
    input: 'src/continue-page.ts',
    external: [/create-auth-client\.ts$/],
    output: { ...output, minify: true, file: 'dist/continue-page.js', paths: () => './client.js' },
  },
  {
    input: 'src/account-page.ts',
    external: [/account\.ts$/],
    output: { ...output, minify: true, file: 'dist/account-page.js', paths: () => './client-account.js' },
  },
]);
