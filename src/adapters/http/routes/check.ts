/** A part of the service that may be unavailable. */
export type Check = {
  readonly name: string;
  readonly ping: () => Promise<unknown>;
  /** Whether the service is not ready without it. */
  readonly required: boolean;
};
