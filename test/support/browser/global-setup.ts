import type { TestProject } from 'vitest/node';
import { missingParts } from '../servers/missing-parts.ts';
import '../servers/provided.ts';
import { provideChromium } from './program.ts';

/** Brings a Chromium. In CI the run fails when it cannot be had; elsewhere the last line says that its tests were skipped. */
export const setup = async (project: TestProject): Promise<() => void> => {
  const { unlessMissing, refuseInCi, tell } = missingParts();
  project.provide('chromium', await unlessMissing('Chromium', provideChromium));
  refuseInCi();
  return tell;
};
