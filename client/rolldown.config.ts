import { defineConfig } from 'rolldown';

/** Members that only modules of the client use, so they get short names. Not those of messages between tabs. */
const INTERNAL = [
  ...['cookieLost', 'mayLoseCookie', 'noResponse', 'call', 'hasCookie', 'isOurs', 'read', 'request', 'send'],
  ...['forget', 'generation', 'hinted', 'isOut', 'tell', 'left', 'margin'],
  ...['enter', 'leave', 'listeners', 'renew', 'restore', 'token'],
];

/** One file for the package and for `/client.js`. */
export default defineConfig({
  input: 'src/index.ts',
  output: {
    file: 'dist/client.js',
    format: 'esm',
    comments: false,
    minify: {
      compress: true,
      mangle: true,
      codegen: true,
      mangleProps: { include: new RegExp(`^(${INTERNAL.join('|')})$`) },
    },
  },
});
