import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { parse } from 'yaml';
import { readText } from '../checkout/repository.ts';
import { runAtEnd } from '../closing.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';
import { provideDebianPackages } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { killAtExit } from './keeper.ts';

type Place = { readonly directory: string; readonly port: number; readonly instances: readonly string[] };
type Proxy = {
  /** The name of the Debian package. */
  readonly packageName: string;
  readonly program: string;
  /** Makes the documented configuration, with the addresses of the test and without TLS. */
  readonly configured: (place: Place) => string;
  readonly args: (file: string) => readonly string[];
};

/** Applies replacements to a text. @throws Error that names a pattern that is not in the text */
export const withReplacements = (text: string, ...replacements: readonly (readonly [RegExp, string])[]): string =>
  replacements.reduce((before, [pattern, value]) => {
    if (!pattern.test(before)) throw new Error(`the documented configuration has no ${pattern}`);
    return before.replace(pattern, value);
  }, text);

/** Makes a complete configuration of nginx with `text` in its `http` block. */
export const nginxConfiguration = (directory: string, text: string): string => {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  );
  return `daemon off; pid ${join(directory, 'nginx.pid')}; events {} http { ${paths.join(' ')}\n${text}}`;
};

export const NGINX: Omit<Proxy, 'configured'> = {
  packageName: 'nginx-light',
  program: 'usr/sbin/nginx',
  args: (file) => ['-c', file, '-e', '/dev/null'],
};

/** The proxies for which the documents have a configuration. */
export const PROXIES: Readonly<Record<string, Proxy>> = {
  Caddy: {
    packageName: 'caddy',
    program: 'usr/bin/caddy',
    configured: ({ port, instances }) => {
      const { configs } = parse(readText('compose.yaml'), { merge: true });
      const text = withReplacements(
        configs.proxy.content,
        [/:8080/, `:${port}`],
        [/tandem-1:3000 tandem-2:3000/, instances.join(' ')],
      );
      return `{\n  admin off\n}\n${text}`;
    },
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  nginx: {
    ...NGINX,
    configured: ({ directory, port, instances }) => {
      const text = withReplacements(
        readText('docs/proxies/nginx.conf'),
        [/ *server 10(?:.|\n)*10\.0\.0\.2:3000(.*)/, instances.map((each) => `server ${each}$1`).join('\n')],
        [/listen 443 ssl/, `listen 127.0.0.1:${port}`],
        [/\n *ssl_certificate .*/, ''],
        [/\n *ssl_certificate_key .*/, ''],
        [/access_log \S+/, `access_log ${join(directory, 'access.log')}`],
      );
      return nginxConfiguration(directory, text);
    },
  },
  HAProxy: {
    packageName: 'haproxy',
    program: 'usr/sbin/haproxy',
    configured: ({ port, instances }) =>
      withReplacements(
        readText('docs/proxies/haproxy.cfg'),
        [/server one(?:.|\n)*10\.0\.0\.2:3000/, instances.map((each, at) => `server s${at} ${each}`).join('\n')],
        [/:443 ssl crt \S+/, `127.0.0.1:${port}`],
      ),
    args: (file) => ['-f', file],
  },
};

/** Starts a proxy in front of instances until the end of the test or file. @param instances each as `host:port` @returns its URL */
export const startProxy = async (
  { packageName, program, configured, args }: Proxy,
  instances: readonly string[],
): Promise<string> => {
  const { root, libraries } = await provideDebianPackages(program, packageName);
  const { path: directory } = temporaryDirectory();
  // nginx drops its privileges, and must still be able to read its directories.
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'home'));
  const port = await freePort();
  const file = join(directory, 'configuration');
  writeFileSync(file, configured({ directory, port, instances }));
  const env = { HOME: join(directory, 'home'), LD_LIBRARY_PATH: libraries.join(':') };
  const child = spawn(join(root, program), args(file), { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
  killAtExit(child);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(String(chunk)));
  runAtEnd(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await vi.waitFor(async () => (await fetch(`${url}/health/live`)).text(), { timeout: 60_000 });
  } catch (error) {
    throw new Error(`${packageName} did not start: ${output.join('')}`, { cause: error });
  }
  return url;
};
