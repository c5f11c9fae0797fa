import { ALL, move } from '../machine/cores.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import { progress } from '../report/progress.ts';
import { METRICS, type Metric, type Samples } from '../report/samples.ts';
import { figure } from '../report/table.ts';
import { SYSTEMS } from '../systems/systems.ts';
import { BCRYPT, measureBareBcrypt } from './bare-bcrypt.ts';
import { measureOnAllCores } from './both-cores.ts';
import { type Attempt, measureOnOneCore } from './one-core.ts';
import { type PreparedSystem, prepare } from './prepared-system.ts';
import type { Spans } from './spans.ts';

/** Takes all systems through the same workloads, one after the other, in each round: a machine that drifts hits all alike. */
export const measureInTurn = async (
  parts: Parts,
  options: Options,
  spans: Spans,
  samples: Samples,
  attempt: Attempt,
): Promise<void> => {
  const prepared: PreparedSystem[] = [];
  for (const system of SYSTEMS) {
    if (!system.workloads.some((workload) => options.wants(system.name, workload))) continue;
    progress(`preparing ${system.name}`);
    await attempt(system.name, async () => void prepared.push(await prepare(system, parts)));
  }
  for (let round = 1; round <= options.rounds; round += 1) {
    const at = `round ${round}/${options.rounds}`;
    move([process.pid], ALL);
    if (BCRYPT.workloads.some((workload) => options.wants(BCRYPT.name, workload))) {
      progress(`${at}  ${BCRYPT.name}`);
      await measureBareBcrypt(options, spans, samples);
    }
    for (const each of prepared) {
      const { name } = each.system;
      const record = (metric: Metric, value: number) => {
        samples.add(name, metric, value);
        progress(`${at}  ${name}  ${METRICS[metric].title}: ${figure(value, METRICS[metric].digits)}`);
      };
      await attempt(name, () => measureOnAllCores(each, parts, options, spans, record));
    }
  }
  progress('one core');
  await measureOnOneCore(
    prepared,
    parts,
    options,
    spans,
    ({ name }, metric, value) => {
      samples.add(name, metric, value);
      progress(`one core  ${name}  ${METRICS[metric].title}: ${figure(value, METRICS[metric].digits)}`);
    },
    attempt,
  );
};
