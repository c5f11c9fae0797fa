import type { TestProject } from 'vitest/node';
import { missingParts } from '../servers/missing-parts.ts';
import '../servers/provided.ts';
import { provideChromium, provideFirefox, provideWebkit } from './program.ts';

/** The project whose tests need Firefox and WebKit as well. */
const WITH_OTHERS = 'rest-browser';

/** Provides the browsers. If one is missing, the run fails in CI; elsewhere its tests are skipped, and the last line of the run says so. */
export const setup = async (project: TestProject): Promise<() => void> => {
  const { unlessMissing, refuseInCi, report } = missingParts();
  project.provide('chromium', await unlessMissing('Chromium', provideChromium));
  if (project.name === WITH_OTHERS) project.provide('firefox', await unlessMissing('Firefox', provideFirefox));
  refuseInCi();
  // WebKit may be missing in CI as well, since it cannot be fetched.
  if (project.name === WITH_OTHERS) project.provide('webkit', await unlessMissing('WebKit', provideWebkit));
  return report;
};
