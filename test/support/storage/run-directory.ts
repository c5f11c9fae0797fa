import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { removeAtExit } from '../servers/keeper.ts';
import '../servers/provided.ts';

/** Makes a directory that all projects of a test run share, and removes it after the run. */
export const setup = ({ vitest }: TestProject): (() => Promise<void>) | undefined => {
  if (vitest.getProvidedContext().runDirectory !== undefined) return undefined;
  const path = mkdtempSync(join(tmpdir(), 'tandem-run-'));
  vitest.provide('runDirectory', path);
  return removeAtExit(path);
};
