import { basename } from 'node:path';
import { defineConfig } from 'rolldown';

/** The script of the page, which imports the client from the service. */
export default defineConfig({
  input: 'src/main.ts',
  external: [/client(-account)?\.js$/],
  output: { file: 'page/console.js', format: 'esm', paths: (id) => `./${basename(id)}` },
});
