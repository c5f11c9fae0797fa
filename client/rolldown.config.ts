import { defineConfig } from 'rolldown';

/** Members that only modules of the client use, so they get short names. Not those of messages between tabs. */
const INTERNAL = [
  ...['cookieLost', 'mayLoseCookie', 'noResponse'],
  ...['base', 'call', 'endSession', 'exchange', 'hasCookie', 'isOurs', 'request', 'send'],
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

/** The files for the package, which the service sends under the same names. All use the AuthError of the first. */
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
