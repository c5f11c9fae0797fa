import { SESSION_ENDINGS } from '../../../domain/event.ts';
import { TEST_TYPE, WEBHOOK_TYPES } from '../../../domain/webhook.ts';
import { type Components, EXAMPLE_ID, EXAMPLE_TIME, type Json } from './components.ts';

const ID = { type: 'string', examples: [EXAMPLE_ID] };

/** The requests that receivers get: OpenAPI 3.1 §4.8.1, `webhooks`. */
export const webhooksOf = (components: Components): Json => {
  const header = (name: string, description: string) =>
    components.refer('parameters', name, {
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    });
  const response = (name: string, description: string) => components.refer('responses', name, { description });
  const parameters = [
    header('webhook-id', 'The same for all attempts: a receiver does nothing when it has seen it.'),
    header('webhook-timestamp', 'The time of the attempt, in seconds since 1970.'),
    header('webhook-signature', 'Signatures of Standard Webhooks 1.0, separated by spaces: `v1a,…` is Ed25519.'),
  ];
  const schema = components.refer('schemas', 'WebhookEvent', EVENT);
  const responses = {
    '2XX': response('WebhookTaken', 'The event was taken.'),
    '410': response('WebhookGone', 'The receiver is gone: the webhook is disabled.'),
    default: response(
      'WebhookRetried',
      'The event is sent again, for three days. `Retry-After` of 429 and 503 is heeded.',
    ),
  };
  return Object.fromEntries(
    [...WEBHOOK_TYPES].map(([type, kinds]) => {
      const requestBody = { required: true, content: { 'application/json': { schema } } };
      const operationId = `on${type.replaceAll(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase())}`;
      return [
        type,
        {
          post: {
            operationId,
            summary: `Told of ${kinds.join(', ')}`,
            security: [],
            parameters,
            requestBody,
            responses,
          },
        },
      ];
    }),
  );
};

const EVENT: Json = {
  type: 'object',
  required: ['type', 'timestamp', 'sequence', 'data'],
  properties: {
    type: { enum: [...WEBHOOK_TYPES.keys(), TEST_TYPE] },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened.', examples: [EXAMPLE_TIME] },
    sequence: { type: 'integer', description: 'Later events of a user have greater ones.', examples: [7] },
    data: {
      type: 'object',
      properties: {
        userId: { ...ID, description: `Of every type but ${TEST_TYPE}.` },
        sessionId: { ...ID, description: 'Of a session, or of a remembered device.' },
        reason: { enum: [...SESSION_ENDINGS], description: 'Why it ended.' },
        webhookId: { ...ID, description: `Of ${TEST_TYPE} alone.` },
      },
    },
  },
};
