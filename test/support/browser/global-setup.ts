import type { TestProject } from 'vitest/node';
import { missingParts } from '../servers/missing-parts.ts';
import '../servers/provided.ts';
import { provideChromium, provideFirefox } from './program.ts';

/** Has tests that need a Firefox. */
const WITH_FIREFOX = 'rest-browser';

/** Provides browsers. Without one the run fails in CI; elsewhere its tests are skipped and the last line says so. */
export const setup = async (project: TestProject): Promise<() => void> => {
  const { unlessMissing, refuseInCi, report } = missingParts();
  project.provide('chromium', await unlessMissing('Chromium', provideChromium));
  if (project.name === WITH_FIREFOX) project.provide('firefox', await unlessMissing('Firefox', provideFirefox));
  refuseInCi();
  return report;
};
