import * as v from 'valibot';
import { readAttributes } from '../../../../domain/attributes.ts';
import { isNote } from '../../../../domain/event.ts';
import { StoredEventJson } from '../../../json/account.ts';
import { AttributesJson, fieldRule, textRule } from '../../../json/fields.ts';
import { StoredUserJson } from '../accounts/export.ts';

export const UserForOperatorsJson = v.pipe(StoredUserJson, v.title('StoredUser'));

/** An event as operators see it, with the name of the operator who caused it. */
export const EventForOperatorsJson = v.object({ ...StoredEventJson.entries, actor: v.nullable(v.string()) });

export const AttributesField = v.pipe(
  AttributesJson,
  fieldRule((attributes: Record<string, unknown>) => {
    try {
      readAttributes(JSON.stringify(attributes));
      return null;
    } catch (error) {
      return { code: 'invalid_value', message: error instanceof Error ? error.message : 'cannot be read' };
    }
  }),
  v.metadata({ jsonSchema: { type: 'object', description: 'At most 1,024 bytes as JSON. {} removes them.' } }),
  v.examples([{ roles: ['admin'] }]),
);

export const ChangedJson = v.object({ changed: v.boolean() });
export const EndedSessionsJson = v.object({ endedSessions: v.number() });

const Reason = v.pipe(
  v.string(),
  v.trim(),
  textRule((text) =>
    isNote(text) ? null : { code: 'invalid_format', message: 'must have 1 to 200 visible characters on one line' },
  ),
  v.metadata({ jsonSchema: { type: 'string', minLength: 1, maxLength: 200, description: 'Users can read it.' } }),
  v.examples(['Your password was in a leak of another service.']),
);

export const ReasonBody = v.optional(v.object({ reason: v.optional(Reason) }));
/** An act about all users requires a reason: a request that is meant for one user, but lacks the id in its path, does not end all sessions. */
export const RequiredReasonBody = v.object({ reason: Reason });
