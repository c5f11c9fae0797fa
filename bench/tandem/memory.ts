import { load } from '../load/load.ts';
import { ALL } from '../machine/cores.ts';
import { residentMemory } from '../machine/processes.ts';
import type { Parts } from '../parts/parts.ts';
import { figure, type Section, table } from '../report/table.ts';
import type { Credentials } from '../systems/system.ts';
import { TANDEM } from '../systems/systems.ts';
import { asking, logInAll, refreshing } from '../workloads/clients.ts';
import { prepare, whileRunning } from '../workloads/prepared-system.ts';

/** Looks at the memory in between, and the share of requests that refresh: the others ask for the user. */
const LOOKS = 10;
const REFRESHING_CLIENTS = 16;

/** Whether memory stays what it is over many requests of 64 clients. */
export const measureMemory = async (parts: Parts, { quick }: { readonly quick: boolean }): Promise<Section> => {
  const requests = quick ? 10_000 : 200_000;
  const rows: string[][] = [];
  const prepared = await prepare(TANDEM, parts);
  await whileRunning(prepared, parts, ALL, async ({ origin, pid }) => {
    const { calls } = TANDEM;
    const { me } = calls;
    if (me === undefined) throw new Error('there is no route that asks for the user');
    const signedIn = await logInAll(origin, calls, prepared.people);
    const actors = signedIn.map((credentials: Credentials, index) =>
      index < REFRESHING_CLIENTS ? refreshing(calls)(credentials) : asking(me)(credentials),
    );
    let sent = 0;
    const look = () => rows.push([String(sent), figure(residentMemory(pid), 0)]);
    look();
    for (let step = 1; step <= LOOKS; step += 1) {
      const upTo = (requests / LOOKS) * step;
      while (sent < upTo) {
        const [measured] = await load([{ origin, actors }], { warmUp: 0, duration: 500 });
        sent += measured?.count ?? 0;
      }
      look();
    }
  });
  return { title: `Tandem: memory over ${requests} requests`, text: table(['requests', 'MiB'], rows) };
};
