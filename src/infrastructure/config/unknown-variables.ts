import { VARIABLE_NAMES } from './variables.ts';

/** Prefixes that are this service's: whoever sets another name with one of them means one of its variables. */
const PREFIX = /^(?:ALLOWED_ORIGINS|(?:BCRYPT|DATABASE|JWT|RATE_LIMIT|REDIS|SLOW_REQUEST)_)/;
/** What Kubernetes and Docker set for a neighbour that happens to be called `redis` or `database`. */
const OF_NEIGHBOUR = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?|NAME|ENV_\w+)$/;
const NAME = /^[A-Z][A-Z0-9_]{4,63}$/;

/** A line for each name in the environment that looks like a variable's and is none. Names alone are told, and no values. */
export const unknownVariables = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env)
    .filter((name) => env[name] && NAME.test(name) && !VARIABLE_NAMES.some((known) => known === name))
    .flatMap((name) => {
      const { known, slips } = nearestTo(name);
      const isOurs = PREFIX.test(name) && !OF_NEIGHBOUR.test(name);
      if (known !== undefined && (isOurs || slips <= known.length / 6))
        return [`${name} is no variable of this service: is ${known} meant?`];
      return isOurs ? [`${name} is no variable of this service`] : [];
    });

type Nearest = { readonly known: string | undefined; readonly slips: number };

/** The variable whose name takes the fewest slips to become this one; none when that is over a third of its letters. */
const nearestTo = (name: string): Nearest => {
  const near = VARIABLE_NAMES.filter((known) => Math.abs(known.length - name.length) <= known.length / 3)
    .map((known) => ({ known, slips: slipsBetween(known, name) }))
    .filter(({ known, slips }) => slips <= known.length / 3);
  return near.reduce<Nearest>((a, b) => (b.slips < a.slips ? b : a), { known: undefined, slips: Infinity });
};

/** Letters to add, drop, replace or swap with their neighbour: the optimal string alignment distance. */
const slipsBetween = (a: string, b: string): number => {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= a.length; row++) {
    const cells = [row];
    rows.push(cells);
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Infinity;
      cells.push(Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
};
