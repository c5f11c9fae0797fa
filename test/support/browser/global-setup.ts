import type { TestProject } from 'vitest/node';
import { missingParts } from '../servers/missing-parts.ts';
import '../servers/provided.ts';
import { provideChromium, provideFirefox, provideWebkit } from './program.ts';

/** Has tests that need a Firefox and a WebKit. */
const WITH_OTHERS = 'rest-browser';

/** Provides browsers. Without one the run fails in CI; elsewhere its tests are skipped and the last line says so. */
export const setup = async (project: TestProject): Promise<() => void> => {
  const { unlessMissing, refuseInCi, report } = missingParts();
  project.provide('chromium', await unlessMissing('Chromium', provideChromium));
  if (project.name === WITH_OTHERS) project.provide('firefox', await unlessMissing('Firefox', provideFirefox));
  refuseInCi();
  // Cannot be fetched, so it may be missing in CI as well.
  if (project.name === WITH_OTHERS) project.provide('webkit', await unlessMissing('WebKit', provideWebkit));
  return report;
};
