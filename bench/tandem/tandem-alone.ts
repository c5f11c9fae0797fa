import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import { progress } from '../report/progress.ts';
import type { Section } from '../report/table.ts';
import type { Spans } from '../workloads/spans.ts';
import type { Attempt } from '../workloads/turns.ts';
import { measureEmbeddedStart } from './embedded-start.ts';
import { measureLogInTiming } from './log-in-timing.ts';
import { measureMemory } from './memory.ts';
import { measureTraces } from './traces.ts';
import { measureWorkers } from './workers.ts';

/** What has no counterpart in the peers, by its name in `--only`. */
export const TANDEM_ALONE = ['embedded-start', 'timing', 'traces', 'workers', 'memory'] as const;

export const measureTandemAlone = async (
  parts: Parts,
  options: Options,
  spans: Spans,
  attempt: Attempt,
): Promise<Section[]> => {
  const measurements: Record<(typeof TANDEM_ALONE)[number], () => Promise<Section>> = {
    'embedded-start': () => measureEmbeddedStart(options.rounds),
    timing: () => measureLogInTiming(parts, options),
    traces: () => measureTraces(parts, options.rounds, spans, attempt),
    workers: () => measureWorkers(parts, options.rounds, spans, attempt),
    memory: () => measureMemory(parts, options),
  };
  const sections: Section[] = [];
  for (const name of TANDEM_ALONE.filter((each) => options.wants('tandem', each))) {
    progress(`tandem ${name}`);
    await attempt(`tandem ${name}`, async () => {
      sections.push(await measurements[name]());
    });
  }
  return sections;
};
