import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CAN_PIN } from './machine/cores.ts';
import { describeMachine, packageVersions } from './machine/description.ts';
import { assertQuiet, busyShare } from './machine/quiet.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { type Parts, startParts } from './parts/parts.ts';
import { comparison } from './report/comparison.ts';
import { progress } from './report/progress.ts';
import { newSamples } from './report/samples.ts';
import { markdown, type Section, table } from './report/table.ts';
import { SYSTEMS } from './systems/systems.ts';
import { measureGrowth } from './tandem/growth.ts';
import { measureTandemAlone, TANDEM_ALONE } from './tandem/tandem-alone.ts';
import { BCRYPT } from './workloads/bare-bcrypt.ts';
import { measureInTurn } from './workloads/in-turn.ts';
import { FULL, QUICK } from './workloads/spans.ts';
import type { Attempt } from './workloads/turns.ts';

const known = () => {
  const all = new Map<string, readonly string[]>([...SYSTEMS, BCRYPT].map(({ name, workloads }) => [name, workloads]));
  return all.set('tandem', [...(all.get('tandem') ?? []), ...TANDEM_ALONE]);
};

const options = (): Options => {
  try {
    return parseOptions(process.argv.slice(2), known());
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
};

const failures: string[] = [];
/** Goes on with the rest when something of a system does not work: the run fails at its end. */
const attempt: Attempt = async (what, work) => {
  try {
    await work();
    return true;
  } catch (error) {
    const failure = `${what}: ${(error as Error).message}`;
    failures.push(failure);
    progress(`FAILED ${failure}`);
    return false;
  }
};

const measure = async (parts: Parts, chosen: Options): Promise<Section[]> => {
  const spans = chosen.quick ? QUICK : FULL;
  if (chosen.growth) return measureGrowth(parts, chosen);
  const samples = newSamples();
  await measureInTurn(parts, chosen, spans, samples, attempt);
  const alone = await measureTandemAlone(parts, chosen, spans, attempt);
  return [...comparison(samples), ...alone];
};

const heading = (parts: Parts, busy: number, { quick, rounds, growth }: Options): string => {
  const facts = {
    ...describeMachine(parts.versions, busy),
    Date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    Rounds: String(rounds),
    Cores: CAN_PIN ? 'where one core is named, the server has it alone' : 'processes could not be kept to a core',
  };
  const packages = table(['package', 'version'], Object.entries(packageVersions()));
  return [
    growth ? '# Results: growth' : '# Results',
    quick
      ? '**A quick run: its figures say nothing.**'
      : 'What `npm run bench` wrote. Ratios within one run count, not figures.',
    table(['', ''], Object.entries(facts)),
    ...(growth ? [] : [packages]),
    ...failures.map((failure) => `**Failed:** ${failure}`),
  ].join('\n\n');
};

const chosen = options();
// A part of a run, or a quick one, must not replace the figures of a whole one.
const isWritten = chosen.everything && !chosen.quick;
const busy = await busyShare();
if (isWritten) assertQuiet(busy, 'before the run');
const parts = await startParts({ counting: chosen.growth });
try {
  const sections = await measure(parts, chosen);
  const report = [heading(parts, busy, chosen), ...sections.map(markdown)].join('\n\n');
  console.log(`\n${report}`);
  if (isWritten) {
    assertQuiet(await busyShare(), 'after the run');
    writeFileSync(join(import.meta.dirname, chosen.growth ? 'GROWTH.md' : 'RESULTS.md'), `${report}\n`);
  }
} finally {
  await parts.stop();
}
if (failures.length > 0) process.exitCode = 1;
