import type { RotationOutcome } from '../../../src/domain/session.ts';

/** The result of a rotation as one word, which is `rotated` for any user. */
export const outcomeOf = (result: RotationOutcome): string => (typeof result === 'string' ? result : 'rotated');
