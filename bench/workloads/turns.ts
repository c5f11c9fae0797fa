/** Does the work. @returns whether it succeeded; the run goes on if not, and fails at its end. */
export type Attempt = (what: string, work: () => Promise<void>) => Promise<boolean>;

export type Turn = { readonly name: string; readonly take: () => Promise<void> };

/**
 * The speed of a virtual machine changes by half from one minute to the next, and hits all alike if they take turns. Nobody always works after the
 * same one. One that fails gets no further turn.
 */
export const takeTurns = async (all: readonly Turn[], count: number, attempt: Attempt): Promise<void> => {
  let left = [...all];
  for (let turn = 0; turn < count; turn += 1) {
    const failed = new Set<Turn>();
    for (const each of turn % 2 === 0 ? left : left.toReversed())
      if (!(await attempt(each.name, each.take))) failed.add(each);
    left = left.filter((each) => !failed.has(each));
  }
};
