import type { KeyObject } from 'node:crypto';
import { allowedAddresses, RefusedAddress } from '../../adapters/hooks/addresses.ts';
import { publicHookKey, webhookKey } from '../../adapters/hooks/signing.ts';
import { changeWebhook, deleteWebhook, listWebhooks, replayWebhook } from '../../application/storage/webhooks.ts';
import type { WebhookType } from '../../domain/event.ts';
import { MAX_WEBHOOKS, TEST_TYPE, WEBHOOK_TYPES, type Webhook } from '../../domain/webhook.ts';
import { CommandError, invalidArguments } from '../command-error.ts';
import { optionsIn } from '../config/formats.ts';
import { pageUrl } from '../config/urls.ts';
import type { Env } from '../config/variables.ts';
import type { Config } from '../config.ts';
import { openSender } from '../delivery.ts';
import { loadOrCreateHookKey } from '../keys.ts';
import { type Action, type Answer, action, type Command } from './command.ts';
import { type Accounts, withAccounts } from './users/open-accounts.ts';

const runWithAccounts = withAccounts();

type Work = (webhook: Webhook, accounts: Accounts, config: Config) => Promise<Answer>;

const withWebhook = (env: Env, webhookId: string | undefined, work: Work) =>
  runWithAccounts(env, async (accounts, config) => {
    const found = (await listWebhooks(accounts.records)).find(({ id }) => id === webhookId?.toUpperCase());
    if (found === undefined) throw new CommandError('not-found', 'There is no webhook with this id.');
    return work(found, accounts, config);
  });

/** Describes a webhook. @param extra members that are shown only after `add` and `rotate` */
const answerOf = (webhook: Webhook, extra: { readonly secret?: string; readonly activeAt?: number } = {}): Answer => {
  const { secret, activeAt } = extra;
  const { id, url, types, publicKey, hasSecret, createdAt, disabledAt } = webhook;
  const lines = [
    [id, url],
    ['  types', types?.join(', ') ?? 'all'],
    ['  public key', publicKey],
    ...(secret === undefined ? [] : [['  secret', secret]]),
    ...(activeAt === undefined ? [] : [['  events after', new Date(activeAt).toISOString()]]),
    ...(disabledAt === null ? [] : [['  disabled', new Date(disabledAt).toISOString()]]),
  ];
  return {
    text: lines.map((line) => `${line.join('  ')}\n`).join(''),
    json: { id, url, types, publicKey, hasSecret, secret, createdAt, disabledAt, activeAt },
  };
};

const keysOf = (hookKey: KeyObject, webhook: Pick<Webhook, 'id' | 'hasSecret'>, number: number) => {
  const { privateKey, secret } = webhookKey(hookKey, webhook, number);
  return { publicKey: publicHookKey(privateKey), ...(secret && { secret: `whsec_${secret.toString('base64')}` }) };
};

const typesIn = (text: string | undefined): readonly WebhookType[] | null => {
  if (text === undefined) return null;
  const allTypes = [...WEBHOOK_TYPES.keys()];
  const types = optionsIn(text, allTypes);
  if (types === undefined) throw invalidArguments(`--types: expected some of ${allTypes.join(', ')}.`);
  return types;
};

/** Checks the argument URL. A host that cannot be resolved yet is accepted. @throws CommandError for a URL that the service would refuse to call */
const urlIn = async (text: string, { webhookAllowedNetworks }: Config): Promise<string> => {
  const url = pageUrl.parse(text);
  if (url === undefined)
    throw invalidArguments('URL: expected https://host/path, without a name, a password and a fragment.');
  await allowedAddresses(new URL(url), webhookAllowedNetworks).catch((error: unknown) => {
    if (error instanceof RefusedAddress)
      throw invalidArguments('URL: its address has to be public, over https, or in WEBHOOK_ALLOWED_NETWORKS.');
  });
  return url;
};

const add = async (urlText: string, options: { types: string | undefined; 'with-secret': boolean }, env: Env) =>
  runWithAccounts(env, async ({ records, ids, clock }, config) => {
    const types = typesIn(options.types);
    const url = await urlIn(urlText, config);
    if ((await listWebhooks(records)).length >= MAX_WEBHOOKS)
      throw new CommandError('too-many', `There are ${MAX_WEBHOOKS} webhooks already.`, 1);
    const identity = { id: ids.next(), hasSecret: options['with-secret'] };
    const { publicKey, secret } = keysOf(await loadOrCreateHookKey(config), identity, 1);
    const times = { createdAt: clock.now(), rotatedAt: null, disabledAt: null };
    const webhook = { ...identity, url, types, keyNumber: 1, publicKey, ...times };
    await records.insert('webhooks', webhook);
    // A transaction that begins after `activeAt` sees the webhook, since it was inserted before.
    return answerOf(webhook, { ...(secret && { secret }), activeAt: clock.now() });
  });

const test: Work = async (webhook, { clock, ids }, config) => {
  const send = await openSender(config, clock, new AbortController().signal)(webhook);
  if (send === null)
    throw new CommandError('another-key', 'The key of the webhook was made with another HOOK_PRIVATE_KEY.', 1);
  const message = { type: TEST_TYPE, at: clock.now(), sequence: 0, data: { webhookId: webhook.id } } as const;
  const { status } = await send({ id: `msg_${ids.next()}`, ...message });
  if (status < 200 || status > 299) throw new CommandError('refused', `The receiver has answered with ${status}.`, 1);
  return { text: `The receiver has answered with ${status}.\n`, json: { status } };
};

const rotate: Work = async (webhook, { records, clock }, config) => {
  const keyNumber = webhook.keyNumber + 1;
  const { publicKey, secret } = keysOf(await loadOrCreateHookKey(config), webhook, keyNumber);
  const changed = { keyNumber, publicKey, rotatedAt: clock.now() };
  await changeWebhook(records, webhook.id, changed);
  return answerOf({ ...webhook, ...changed }, secret === undefined ? {} : { secret });
};

const replay: Work = async ({ id }, accounts) => {
  const users = await replayWebhook(accounts)(id);
  return { text: `Users whose events are sent again: ${users}.\n`, json: { users } };
};

const webhookAction = (does: string, work: Work): Action =>
  action({ args: ['ID'], options: { json: true }, does, run: ({ args: [id], env }) => withWebhook(env, id, work) });

const remove: Work = async ({ id }, { records }) => {
  await deleteWebhook(records, id);
  return { text: 'The webhook was removed.\n', json: { id } };
};

export const webhooks: Command = {
  actions: {
    list: action({
      options: { json: true },
      does: 'the webhooks, with their public keys',
      run: ({ env }) =>
        runWithAccounts(env, async (accounts) => {
          const all = (await listWebhooks(accounts.records)).map((webhook) => answerOf(webhook));
          return { text: all.map(({ text }) => text).join(''), json: { webhooks: all.map(({ json }) => json) } };
        }),
    }),
    add: action({
      args: ['URL'],
      options: { json: true, types: 'TYPE,TYPE', 'with-secret': true },
      does: 'tells a URL of events from now on, of all types or of some; shows after which time, the public key of its signatures (v1a), and\n    with --with-secret, this once, a shared secret for signatures of v1 as well',
      run: ({ args: [url = ''], options, env }) => add(url, options, env),
    }),
    test: webhookAction(`sends an event of the type ${TEST_TYPE}, and shows the status of the answer`, test),
    rotate: webhookAction(
      'makes another key, and shows it; for a day, requests are signed with the former one as well',
      rotate,
    ),
    replay: webhookAction(
      'sends what is not delivered, and what was given up within a week, again at once; enables a webhook that was disabled',
      replay,
    ),
    remove: webhookAction('tells a URL of nothing more, and drops what is not delivered', remove),
  },
  notes: `The command works beside the service, which stores events for a new webhook at once, and learns of other changes within five seconds. add, test and rotate need the HOOK_PRIVATE_KEY of the service.

--json     one object on standard output, or { "error": { "code", "message" } }

Exit status: 0 done, 1 refused or failed, 2 invalid arguments or configuration, 3 no such webhook.`,
};
