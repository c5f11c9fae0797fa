/** A server cannot be connected to. Its message may be shown: it names the variable, and a reason without values. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** @param opening a function whose errors name the variable, and have no values. @throws Unreachable */
export const reached = async <Opened>(opening: Promise<Opened>): Promise<Opened> => {
  try {
    return await opening;
  } catch (error) {
    throw new Unreachable(error instanceof Error ? error.message : 'unknown');
  }
};
