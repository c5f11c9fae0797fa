/** A part of the service that may be unavailable. */
export type Check = {
  readonly name: string;
  readonly ping: () => Promise<unknown>;
  /** Whether the service is not ready without it. */
  readonly required: boolean;
};

/** The same check, once at a time: who asks meanwhile gets the same outcome. However many ask, one connection of the part is in use. */
export const oneAtATime = ({ ping, ...check }: Check): Check => {
  let running: Promise<unknown> | null = null;
  return {
    ...check,
    ping: () => {
      running ??= ping().finally(() => {
        running = null;
      });
      return running;
    },
  };
};
