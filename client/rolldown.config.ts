import { defineConfig } from 'rolldown';

/** Members that only modules of the client use, so they get short names. Not those of messages between tabs. */
const INTERNAL = [
  ...['cookieLost', 'keepsNoCookie', 'mayLoseCookie', 'noResponse'],
  ...['base', 'call', 'endSession', 'exchange', 'isOurs', 'request', 'send'],
  ...['generation', 'hint', 'missed', 'announce', 'untilDue', 'margin'],
  ...['enter', 'renew', 'token', 'sendProven', 'authorize', 'isBound', 'proofFor', 'closeFrame'],
];

const minify = {
  compress: true,
  mangle: true,
  codegen: true,
  mangleProps: { include: new RegExp(`^(${INTERNAL.join('|')})$`) },
};
const output = { format: 'esm', comments: false } as const;

/** The modules of the package. They use the AuthError of the first; that for servers needs jose, and those of frameworks theirs. */
const MODULES = [
  { input: 'src/index.ts', file: 'client.js', minify },
  { input: 'src/account.ts', file: 'client-account.js', minify: true },
  { input: 'src/passkeys.ts', file: 'client-passkeys.js', minify: true },
  { input: 'src/server.ts', file: 'server.js', minify: false },
  { input: 'src/testing.ts', file: 'testing.js', minify: false },
  ...['react', 'svelte', 'vue'].map((name) => ({ input: `src/${name}.ts`, file: `${name}.js`, minify: true })),
];
const OTHERS = ['jose', 'react', 'svelte/store', 'vue'];

const modules = (format: 'esm' | 'cjs', directory: string) =>
  MODULES.map(({ input, file, minify }) => ({
    input,
    external: input === 'src/index.ts' ? OTHERS : [/auth-error\.ts$/, ...OTHERS],
    output: {
      ...{ format, comments: false, minify, file: `${directory}/${file}` },
      paths: (id: string) => (OTHERS.includes(id) ? id : './client.js'),
    },
  }));

/** The files for the package; the service sends those for browsers under the same names. `dist/cjs` has the same for `require`. */
export default defineConfig([
  ...modules('esm', 'dist'),
  ...modules('cjs', 'dist/cjs'),
  { input: 'src/device-key.ts', output: { ...output, minify: true, file: 'dist/device-key.js' } },
  {
    input: 'src/continue-page.ts',
    external: [/create-auth-client\.ts$/],
    output: { ...output, minify: true, file: 'dist/continue-page.js', paths: () => './client.js' },
  },
  { input: 'src/user-pages.ts', output: { ...output, minify: true, file: 'dist/user-pages.js' } },
]);
