import type { Call } from '../load/connection.ts';
import { type Actor, sendAll } from '../load/load.ts';
import type { Calls, Credentials, Person } from '../systems/system.ts';

export const CLIENTS = 64;
/** So many that none of them reaches the number of sessions from which on a log-in of Tandem ends an older one. */
export const PEOPLE = 4 * CLIENTS;

let people = 0;

/** Somebody whom no system of this run knows. */
export const newPerson = (): Person => {
  people += 1;
  const username = `person.${people}`;
  return { username, email: `${username}@example.org` };
};

export const newPeople = (count: number): Person[] => Array.from({ length: count }, newPerson);

export const registerAll = async (origin: string, { register }: Calls, persons: readonly Person[]): Promise<void> => {
  if (register !== undefined) await sendAll(origin, persons.map(register));
};

/** Logs in as many people as there are clients, at most. */
export const logInAll = async (origin: string, calls: Calls, persons: readonly Person[]): Promise<Credentials[]> => {
  const answers = await sendAll(origin, persons.slice(0, CLIENTS).map(calls.logIn));
  return answers.map((answer, index) => calls.credentials(persons[index] as Person, answer));
};

/** Clients that register one new person after the other. */
export const registering = ({ register }: Calls, clients: number): Actor[] =>
  register === undefined ? [] : Array.from({ length: clients }, () => ({ next: () => register(newPerson()) }));

/** Clients that log in people in turn: a person has few sessions. */
export const loggingIn = ({ logIn }: Calls, persons: readonly Person[], clients: number): Actor[] => {
  let next = 0;
  const logInNext = () => logIn(persons[next++ % persons.length] as Person);
  return Array.from({ length: clients }, () => ({ next: logInNext }));
};

/** A client that refreshes with what the last refresh gave it. */
export const refreshing =
  (calls: Calls) =>
  (credentials: Credentials): Actor => {
    let current = credentials;
    return {
      next: () => calls.refresh(current),
      heard: (answer) => {
        current = calls.refreshed(current, answer);
      },
    };
  };

/** A client that asks the same again and again. */
export const asking =
  (call: (credentials: Credentials) => Call) =>
  (credentials: Credentials): Actor => {
    const same = call(credentials);
    return { next: () => same };
  };
