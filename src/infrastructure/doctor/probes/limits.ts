/** Milliseconds that one connection, and one question to a server, may take. */
export const QUESTION_TIMEOUT = 3_000;
/** Milliseconds that a whole group of checks may take. */
export const GROUP_TIMEOUT = 10_000;
