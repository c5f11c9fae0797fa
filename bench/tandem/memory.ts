import { load } from '../load/load.ts';
import { residentMemory } from '../machine/processes.ts';
import type { Parts } from '../parts/parts.ts';
import { figure, type Section, table } from '../report/table.ts';
import type { Credentials } from '../systems/system.ts';
import { TANDEM } from '../systems/systems.ts';
import { asking, logInAll, refreshing } from '../workloads/clients.ts';
import { prepare, whileRunning } from '../workloads/prepared-system.ts';

/** How often the memory is read in between, and the number of clients that refresh: the others ask for the user. */
const READINGS = 10;
const REFRESHING_CLIENTS = 16;

/** Whether memory stays what it is over many requests of 64 clients. */
export const measureMemory = async (parts: Parts, { quick }: { readonly quick: boolean }): Promise<Section> => {
  const requests = quick ? 10_000 : 200_000;
  const rows: string[][] = [];
  const prepared = await prepare(TANDEM, parts);
  await whileRunning(prepared, parts, async ({ origin, pid }) => {
    const { calls } = TANDEM;
    const { me } = calls;
    if (me === undefined) throw new Error('there is no route that asks for the user');
    const loggedIn = await logInAll(origin, calls, prepared.people);
    const actors = loggedIn.map((credentials: Credentials, index) =>
      index < REFRESHING_CLIENTS ? refreshing(calls)(credentials) : asking(me)(credentials),
    );
    let sent = 0;
    const read = () => rows.push([String(sent), figure(residentMemory(pid), 0)]);
    read();
    for (let step = 1; step <= READINGS; step += 1) {
      const upTo = (requests / READINGS) * step;
      while (sent < upTo) {
        const [measured] = await load([{ origin, actors }], { warmUp: 0, duration: 500 });
        sent += measured?.count ?? 0;
      }
      read();
    }
  });
  return { title: `Tandem: memory over ${requests} requests`, text: table(['requests', 'MiB'], rows) };
};
