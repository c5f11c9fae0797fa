const { CI = '' } = process.env;
const IN_CI = !['', '0', 'false'].includes(CI);

/** Collects the servers and programs that a test run lacks. */
export const missingParts = () => {
  const missing: string[] = [];
  return {
    /** @returns the part, or `null` if it is not available */
    unlessMissing: async <Part>(name: string, provide: () => Promise<Part>): Promise<Part | null> => {
      try {
        return await provide();
      } catch (error) {
        missing.push(`${name} (${error instanceof Error ? lastLine(error.message) : error})`);
        return null;
      }
    },
    /** @throws Error in CI if a part is missing */
    refuseInCi: (): void => {
      if (missing.length > 0 && IN_CI) throw new Error(`CI skips no test, and this is missing: ${missing.join(', ')}`);
    },
    /** Prints which parts are missing, if any. */
    report: (): void => {
      if (missing.length > 0) process.stdout.write(`\nSKIPPED: every test that needs ${missing.join(' or ')}\n`);
    },
  };
};

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
