import { afterAll, afterEach, vi } from 'vitest';
import { closeAll } from './closing.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
afterAll(closeAll);
