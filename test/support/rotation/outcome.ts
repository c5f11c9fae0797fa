import type { RotationOutcome } from '../../../src/domain/session.ts';

/** The result of a rotation in a word: `rotated`, for any user. */
export const outcomeOf = (result: RotationOutcome): string => (typeof result === 'string' ? result : 'rotated');
