import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { alertRules, dashboardQueries } from '../../support/checkout/observed.ts';
import { ROOT, readText } from '../../support/checkout/repository.ts';
import { provideDebianPackages } from '../../support/servers/debian-package.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const run = promisify(execFile);
const RULES = `${ROOT}docs/observe/alerts.yml`;
let promtool: string;
beforeAll(async () => {
  promtool = join((await provideDebianPackages('usr/bin/promtool', 'prometheus')).root, 'usr/bin/promtool');
});

/** A directory with these files. */
const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const { path } = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
};

it('promtool accepts the alert rules, and finds each of them', async () => {
  const { stdout } = await run(promtool, ['check', 'rules', '--lint-fatal', RULES]);
  expect(stdout).toContain(`SUCCESS: ${alertRules().length} rules found`);
});

it('the rules are silent while all is well, and each fires in trouble', async () => {
  const path = directoryWith({
    'rules.yml': readText('docs/observe/alerts.yml'),
    'test.yml': readText('test/infrastructure/observe/alerts.yml'),
  });
  const { stdout, stderr } = await run(promtool, ['test', 'rules', join(path, 'test.yml')]);
  expect(stdout + stderr).toMatch(/SUCCESS/);
});

it('promtool accepts the queries of the dashboard', async () => {
  const rules = dashboardQueries().map((expr, at) => ({ record: `query:${at}`, expr }));
  const path = directoryWith({ 'queries.yml': stringify({ groups: [{ name: 'dashboard', rules }] }) });
  const { stdout } = await run(promtool, ['check', 'rules', '--lint-fatal', join(path, 'queries.yml')]);
  expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
});
