import type { TestProject } from 'vitest/node';
import { missingParts } from '../servers/missing-parts.ts';
import '../servers/provided.ts';
import { provideChromium } from './program.ts';

/** Provides a Chromium. Without one the run fails in CI; elsewhere its tests are skipped and the last line says so. */
export const setup = async (project: TestProject): Promise<() => void> => {
  const { unlessMissing, refuseInCi, report } = missingParts();
  project.provide('chromium', await unlessMissing('Chromium', provideChromium));
  refuseInCi();
  return report;
};
