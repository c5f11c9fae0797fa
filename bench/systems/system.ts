import type { Answer, Call } from '../load/connection.ts';

export type Person = { readonly username: string; readonly email: string };
export const PASSWORD = 'correct horse battery';

/** What a client that has logged in goes on with. */
export type Credentials = {
  readonly person: Person;
  /** The header, or for a protocol without cookies the refresh token. */
  readonly cookie: string;
  readonly accessToken: string;
};

/** How a system is asked for what all of them do. What is missing it does not have. */
export type Calls = {
  readonly register?: (person: Person) => Call;
  readonly logIn: (person: Person) => Call;
  readonly credentials: (person: Person, answer: Answer) => Credentials;
  /** Renews what a client has, and what the client has afterwards. */
  readonly refresh: (credentials: Credentials) => Call;
  readonly refreshed: (credentials: Credentials, answer: Answer) => Credentials;
  /** A route that only verifies the token, and one that reads the database. */
  readonly session?: (credentials: Credentials) => Call;
  readonly me?: (credentials: Credentials) => Call;
};

/** What the systems are measured by. */
export const WORKLOADS = ['start', 'register', 'log-in', 'flood', 'refresh', 'session', 'me'] as const;
export type Workload = (typeof WORKLOADS)[number];

export type System = {
  /** As in `--only`. */
  readonly name: string;
  readonly title: string;
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly calls: Calls;
  readonly workloads: readonly Workload[];
  /** What is switched on, for the report. */
  readonly switchedOn: string;
};

/** All cookies of an answer, as a client sends them back. */
export const cookieHeader = ({ setCookie }: Answer): string =>
  setCookie.map((cookie) => cookie.slice(0, cookie.indexOf(';'))).join('; ');
