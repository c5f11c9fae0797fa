import { defineConfig } from 'rolldown';

/** One file for the package and for `/client.js`. */
export default defineConfig({
  input: 'src/index.ts',
  output: { file: 'dist/client.js', format: 'esm', minify: true },
});
