import { ALL, move } from '../machine/cores.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import { progress } from '../report/progress.ts';
import { METRICS, type Metric, type RecordSample, type Samples } from '../report/samples.ts';
import { figure } from '../report/table.ts';
import { SYSTEMS } from '../systems/systems.ts';
import { BCRYPT, hashAtOnce } from './bare-bcrypt.ts';
import { measureOnAllCores, REGISTERING } from './both-cores.ts';
import { measureLogIns } from './log-ins.ts';
import { measureOnOneCore } from './one-core.ts';
import { type PreparedSystem, prepare } from './prepared-system.ts';
import type { Spans } from './spans.ts';
import type { Attempt } from './turns.ts';

/** What runs alone, one system after the other in each round: a machine that drifts hits all alike. Then what all run in turns. */
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
  const recordAs =
    (when: string): RecordSample =>
    (system, metric, value) => {
      samples.add(system, metric, value);
      progress(`${when}  ${system}  ${METRICS[metric].title}: ${figure(value, METRICS[metric].digits)}`);
    };
  for (let round = 1; round <= options.rounds; round += 1) {
    const record = recordAs(`round ${round}/${options.rounds}`);
    move([process.pid], ALL);
    if (options.wants(BCRYPT.name, 'register'))
      record(BCRYPT.name, 'register', await hashAtOnce(REGISTERING, spans.register.duration));
    for (const each of prepared) {
      const { name } = each.system;
      const recordIts = (metric: Metric, value: number) => record(name, metric, value);
      await attempt(name, () => measureOnAllCores(each, parts, options, spans, recordIts));
    }
    await measureOnOneCore(prepared, parts, options, spans, record, attempt);
  }
  await measureLogIns(prepared, parts, options, spans, recordAs('log-ins'), attempt);
};
