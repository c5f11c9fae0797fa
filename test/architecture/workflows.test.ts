import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT, readText } from '../support/checkout/repository.ts';

type Step = { readonly uses?: string; readonly run?: string };
type Job = {
  readonly permissions?: object;
  readonly steps: readonly Step[];
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: { readonly include: readonly { readonly script: string }[] } };
};
type Workflow = { readonly permissions?: object; readonly jobs: Readonly<Record<string, Job>> };

const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT });
const MANIFEST = JSON.parse(readText('package.json'));

describe.each(WORKFLOWS)('%s', (file) => {
  const text = readText(file);
  const { permissions, jobs }: Workflow = parse(text);
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const commands = steps.flatMap(({ run }) => run ?? []);
  const scripts = Object.values(jobs).flatMap(({ strategy }) => strategy?.matrix.include ?? []);

  it('pins each action to a commit, and says its version', () => {
    const lines = text.split('\n').filter((line) => line.includes('uses:'));
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('may do nothing that it does not state, and ends', () => {
    expect(permissions).toBeDefined();
    const writes = Object.values(permissions ?? {}).filter((each) => each !== 'read');
    expect(writes).toEqual([]);
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  it('puts nothing that a stranger can choose into a command', () => {
    for (const command of commands) expect(command).not.toContain('${{');
  });

  it('runs scripts that there are', () => {
    const all = [...commands, ...scripts.map(({ script }) => `npm run ${script}`)];
    const named = all.flatMap((command) => [...command.matchAll(/npm (?:run )?(test|[\w:]+)(?= --| *$)/g)]);
    expect(named.length).toBeGreaterThan(2);
    for (const [, name = ''] of named) if (name !== 'ci') expect(MANIFEST.scripts).toHaveProperty([name]);
  });
});
