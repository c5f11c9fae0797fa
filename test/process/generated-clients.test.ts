import { beforeAll, describe, expect, it } from 'vitest';
import { codeBelow } from '../support/checkout/documented-code.ts';
import { install, npmProject } from '../support/processes/npm-project.ts';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Those of the generators, which need a TypeScript that is written in JavaScript. */
const PACKAGES = { 'openapi-typescript': '7.13.0', 'openapi-fetch': '0.17.0', orval: '8.38.0', typescript: '5.9.3' };

const directory = temporaryDirectory();
const project = npmProject(directory.path);
let service: RunningService;
beforeAll(async () => {
  service = await runInMemory({ NODE_ENV: 'development' });
  await install(project, PACKAGES);
  project.write('openapi.json', await (await fetch(`${service.url}/openapi.json`)).text());
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
    ...{ skipLibCheck: false, noEmit: true, allowImportingTsExtensions: true, erasableSyntaxOnly: true },
  };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions }));
});

/** Runs a program. @returns what it prints, as JSON */
const run = async (program: string): Promise<unknown> => JSON.parse(await project.run('node', program, service.url));

const WITH_OPENAPI_FETCH = `
  import createClient from 'openapi-fetch';
  import type { components, paths } from './schema.ts';

  declare const process: {
    readonly argv: readonly [string, string, string];
    readonly stdout: { write(text: string): void };
  };
  const client = createClient<paths>({ baseUrl: process.argv[2] });
  const person = { username: 'grace', email: 'grace@example.org', password: 'correct horse' };
  await client.POST('/auth/register', { body: person });
  const refused = await client.POST('/auth/login', { body: { account: person.username, password: 'wrong' } });
  const code: components['schemas']['AUTH_CREDENTIALS_INVALID']['code'] | undefined =
    refused.error?.code === 'AUTH_CREDENTIALS_INVALID' ? refused.error.code : undefined;
  const login = await client.POST('/auth/login', { body: { account: person.username, password: person.password } });
  if (login.error) throw new Error(login.error.code);
  const { accessToken, user } = login.data.data;
  const me = await client.GET('/users/me', { headers: { Authorization: \`Bearer \${accessToken}\` } });
  const name: string | undefined = me.data?.data.username;
  process.stdout.write(JSON.stringify({ code, user: user.username, name }));`;

const WITH_ORVAL = `
  import { currentUser, login, register } from './tandem.ts';

  declare const process: { readonly stdout: { write(text: string): void } };
  const person = { username: 'alan', email: 'alan@example.org', password: 'correct horse' };
  await register(person);
  const refused = await login({ account: person.username, password: 'wrong' });
  const code = refused.status === 401 && refused.data.code === 'AUTH_CREDENTIALS_INVALID' ? refused.data.code : undefined;
  const answer = await login({ account: person.username, password: person.password });
  if (answer.status !== 200) throw new Error(answer.data.code);
  const { accessToken, user } = answer.data.data;
  const me = await currentUser({ headers: { Authorization: \`Bearer \${accessToken}\` } });
  const name: string | undefined = me.status === 200 ? me.data.data.username : undefined;
  process.stdout.write(JSON.stringify({ code, user: user.username, name }));`;

describe('a client that is generated from /openapi.json', () => {
  beforeAll(async () => {
    await project.runInstalled('openapi-typescript', 'openapi.json', '-o', 'schema.ts');
    project.write(
      'orval.config.mjs',
      `export default { tandem: {
        input: './openapi.json',
        output: { target: './tandem.ts', client: 'fetch', baseUrl: ${JSON.stringify(service.url)} },
      } };`,
    );
    await project.runInstalled('orval', '--config', 'orval.config.mjs');
    project.write('with-openapi-fetch.ts', WITH_OPENAPI_FETCH);
    project.write('with-orval.ts', WITH_ORVAL);
    const [documented = expect.unreachable()] = codeBelow('docs/api.md', 'GET /openapi.json', 'ts');
    project.write('documented.ts', documented);
    await project.runInstalled('tsc');
  });

  it('by openapi-typescript, over openapi-fetch, compiles, registers, logs in and tells errors by their codes', async () => {
    const shown = await run('with-openapi-fetch.ts');
    expect(shown).toEqual({ code: 'AUTH_CREDENTIALS_INVALID', user: 'grace', name: 'grace' });
  });

  it('by orval compiles, registers, logs in and tells errors by their codes', async () => {
    const shown = await run('with-orval.ts');
    expect(shown).toEqual({ code: 'AUTH_CREDENTIALS_INVALID', user: 'alan', name: 'alan' });
  });
});
