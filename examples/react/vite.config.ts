import { defineConfig } from 'vite';

/** The client is a link to its directory, which has a React of its own beside it. A page may load only one. */
export default defineConfig({ resolve: { dedupe: ['react'] } });
