/** The groups of routes in the OpenAPI document. */
export const TAGS = {
  tokens: 'Register, log in, refresh and log out.',
  sessions: 'List and end the sessions of the user.',
  users: 'The user of the access token.',
  account: 'Password, username, email address, history, export and deletion of an account.',
  errors: 'The catalog of error codes.',
  documents: 'Documents for programs, in formats that other standards define.',
  pages: 'Pages for people, and what they load.',
  health: 'Whether the service runs and can serve requests.',
} as const;

export type Tag = keyof typeof TAGS;
