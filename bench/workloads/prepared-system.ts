import { ALL, move } from '../machine/cores.ts';
import type { Parts, Storage } from '../parts/parts.ts';
import { type Server, startServer } from '../parts/server.ts';
import type { Person, System } from '../systems/system.ts';
import { newPeople, PEOPLE, registerAll } from './clients.ts';

/** A system with databases of its own, which it has migrated, and people whom it knows. */
export type PreparedSystem = { readonly system: System; readonly storage: Storage; readonly people: readonly Person[] };

export const prepare = async (system: System, parts: Parts): Promise<PreparedSystem> => {
  const storage = await parts.fresh();
  const people = newPeople(PEOPLE);
  const server = await startServer(system.program, { ...system.env, ...storage }, ALL);
  try {
    if (system.workloads.includes('register')) await registerAll(server.origin, system.calls, people);
  } finally {
    await server.stop();
  }
  return { system, storage, people };
};

/** Runs the system for as long as `use` takes, on all cores, as the load client and the databases do. */
export const whileRunning = async (
  { system, storage }: PreparedSystem,
  parts: Parts,
  use: (server: Server) => Promise<void>,
): Promise<void> => {
  move([process.pid], ALL);
  parts.move(ALL);
  const server = await startServer(system.program, { ...system.env, ...storage }, ALL);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
};
