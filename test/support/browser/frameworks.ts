import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { compile } from 'svelte/compiler';
import { build, type Plugin, preview } from 'vite';
import { compileScript, parse } from 'vue/compiler-sfc';
import { codeBelow } from '../checkout/documented-code.ts';
import { ROOT } from '../checkout/repository.ts';

/** For each framework, a module whose `show` renders the component `Account`, and returns a function that removes it. */
const PROGRAMS = {
  react: `
    import { createElement, StrictMode } from 'react';
    import { createRoot } from 'react-dom/client';
    import { Account } from './Account.tsx';
    export const show = (element) => {
      const root = createRoot(element);
      root.render(createElement(StrictMode, null, createElement(Account)));
      return () => root.unmount();
    };`,
  vue: `
    import { createApp } from 'vue';
    import Account from './Account.vue';
    export const show = (element) => {
      const app = createApp(Account);
      app.mount(element);
      return () => app.unmount();
    };`,
  svelte: `
    import { mount, unmount } from 'svelte';
    import Account from './Account.svelte';
    export const show = (element) => {
      const component = mount(Account, { target: element });
      return () => unmount(component);
    };`,
};

export type Framework = keyof typeof PROGRAMS;
export const FRAMEWORKS = Object.keys(PROGRAMS) as Framework[];

/** The script of the page, which counts the listeners of the client, and shows the component at once. */
const MAIN = `
  import { auth } from './auth.ts';
  import { show } from './show.js';
  const { onChange } = auth;
  let listeners = 0;
  auth.onChange = (listener) => {
    listeners += 1;
    const remove = onChange(listener);
    return () => {
      listeners -= 1;
      remove();
    };
  };
  const remove = show(document.getElementById('root'));
  Object.assign(globalThis, { auth, remove, listeners: () => listeners });`;

const compiledVue = (code: string, id: string): string => {
  const { descriptor } = parse(code, { filename: id });
  return stripTypeScriptTypes(compileScript(descriptor, { id, inlineTemplate: true }).content);
};

const compileComponents: Plugin = {
  name: 'components',
  transform: (code, id) => {
    if (id.endsWith('.vue')) return compiledVue(code, id);
    return id.endsWith('.svelte') ? compile(code, { filename: id, generate: 'client' }).js.code : null;
  },
};

/** Writes the documentation's component for a framework, and a page that shows it. */
const plant = (directory: string, framework: Framework, service: string): void => {
  const extension = framework === 'react' ? 'tsx' : framework;
  const [auth = ''] = codeBelow('docs/browser.md', 'In React, Vue and Svelte', 'ts');
  const [component = ''] = codeBelow('docs/browser.md', 'In React, Vue and Svelte', extension);
  const files = {
    'auth.ts': auth.replace('http://localhost:3000', service),
    [`Account.${extension}`]: component,
    'show.js': PROGRAMS[framework],
    'main.js': MAIN,
    'index.html': '<!doctype html><div id="root"></div><script type="module" src="./main.js"></script>',
  };
  mkdirSync(join(directory, framework));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, framework, file), text);
};

/** Serves a page for each framework, at the path of its name, built with the packages of this checkout. */
export const serveFrameworks = async (directory: string, service: string, port: number) => {
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  for (const framework of FRAMEWORKS) plant(directory, framework, service);
  const shared = { root: directory, configFile: false, logLevel: 'error' } as const;
  await build({
    ...shared,
    plugins: [compileComponents],
    resolve: {
      alias: [
        { find: /^tandem-client\/(\w+)$/, replacement: join(ROOT, 'client/dist/$1.js') },
        { find: /^tandem-client$/, replacement: join(ROOT, 'client/dist/client.js') },
      ],
    },
    build: { rolldownOptions: { input: FRAMEWORKS.map((framework) => join(directory, framework, 'index.html')) } },
  });
  const server = await preview({ ...shared, preview: { host: '127.0.0.1', port, strictPort: true } });
  return { close: () => server.close() };
};
