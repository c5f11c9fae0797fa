import { join } from 'node:path';
import { createServer } from 'vite';
import { ROOT } from '../checkout/repository.ts';

type Addresses = { readonly port: number; readonly service: string; readonly api: string };

/**
 * Serves `examples/react` as its `npm run dev` does, with React in development, which renders twice in StrictMode. Its packages are
 * those of this checkout.
 * @param cacheDir where Vite keeps what it has made of them
 */
export const serveReactExample = async ({ port, service, api }: Addresses, cacheDir: string) => {
  const server = await createServer({
    root: join(ROOT, 'examples/react'),
    configLoader: 'native',
    cacheDir,
    logLevel: 'error',
    server: { host: '127.0.0.1', port, strictPort: true, watch: null },
    resolve: {
      alias: [
        { find: 'tandem-client/react', replacement: join(ROOT, 'client/dist/react.js') },
        { find: 'tandem-client', replacement: join(ROOT, 'client/dist/client.js') },
      ],
    },
    define: {
      'import.meta.env.VITE_SERVICE': JSON.stringify(service),
      'import.meta.env.VITE_API': JSON.stringify(api),
    },
  });
  await server.listen();
  return { close: () => server.close() };
};
