import type { Response } from 'supertest';

/** The number of responses by their status, or by status and code for an error. */
export const tally = (responses: readonly Response[]): Record<string, number> => {
  const kinds = responses.map(({ status, body }) => (body.success ? `${status}` : `${status} ${body.code}`));
  return Object.fromEntries([...new Set(kinds)].map((kind) => [kind, kinds.filter((each) => each === kind).length]));
};
