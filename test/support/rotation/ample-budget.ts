/** The budget of rotations that are in time however slow the machine is; only a hang exceeds it. Milliseconds. */
export const AMPLE_BUDGET = 3_600_000;
