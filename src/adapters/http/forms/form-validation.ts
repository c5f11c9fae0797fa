import type { Context, Middleware } from 'koa';
import type * as v from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';
import { validationFailure } from '../errors/exceptions.ts';
import type { Route } from '../routing/define-route.ts';
import { checkerInto, isPercentEncoded, MAX_PARAMETERS, parseObject, readText } from '../stages/input-validation.ts';

const MALFORMED_FORM: FieldProblem = {
  field: 'body',
  message: 'must have each field once, in UTF-8',
  code: 'malformed',
};

/** The names of the members of an object schema, which may be optional or in a pipe. */
export const membersOf = (schema: v.GenericSchema | undefined): readonly string[] => {
  if (schema === undefined) return [];
  if ('wrapped' in schema) return membersOf(schema.wrapped as v.GenericSchema);
  return 'entries' in schema ? Object.keys(schema.entries as object) : [];
};

/** Stage 8 for a form. Its fields become the body, the query and the params of the route that it submits to, but for empty ones. */
export const formValidation = ({ form, request: { query: ofPage } }: Route): Middleware =>
  async function formValidation(ctx, next) {
    const { request } = form?.submits ?? {};
    const sent = await readForm(ctx);
    const fields = sent ?? new Map<string, string>();
    ctx.state.form = fields;
    if (sent === null) throw validationFailure([MALFORMED_FORM]);
    const problems: FieldProblem[] = [];
    const check = checkerInto(problems);
    const part = (schema: v.GenericSchema | undefined): object =>
      Object.fromEntries(
        membersOf(schema).flatMap((name) => {
          if (name === 'extra') return extraOf(fields);
          const text = fields.get(name) ?? '';
          return text === '' && name !== form?.requiredField ? [] : [[name, fieldValue(name, text)]];
        }),
      );
    const [params, query, body] = (['params', 'query', 'body'] as const).map((place) =>
      check(request?.[place], { ...part(request?.[place]), ...(place === 'params' && ctx.params) }, place),
    );
    check(ofPage, part(ofPage), 'query');
    if (problems.length > 0) throw validationFailure(problems);
    ctx.state.input = { params, query, body };
    await next();
  };

/** Fields that a template adds for a hook: `extra.company` becomes a member of `extra`. */
const extraOf = (fields: ReadonlyMap<string, string>): [string, unknown][] => {
  const given = [...fields].filter(([name, text]) => name.startsWith('extra.') && text !== '');
  return given.length === 0 ? [] : [['extra', Object.fromEntries(given.map(([name, text]) => [name.slice(6), text]))]];
};

const TOKENS = ['token', 'invitation'];
const FLAGS = ['remember', 'emailVerified', 'sendLink', 'final', 'handOver'];
const OBJECTS = ['credential', 'attributes'];

/** Without a script, users may paste the whole link. */
const PASTED = /(?:[#?&]|%23)token=([\w-]+)/;

const fieldValue = (name: string, text: string): unknown => {
  if (TOKENS.includes(name)) return PASTED.exec(text)?.[1] ?? text;
  if (FLAGS.includes(name)) return text === 'on';
  return OBJECTS.includes(name) ? parseObject(text) : text;
};

/** @returns `null` if the form is no UTF-8, or has a field twice. @throws HttpError 413, 415 */
export const readForm = async (ctx: Context): Promise<ReadonlyMap<string, string> | null> => {
  const text = await readText(ctx, 'urlencoded');
  if (text === null || !isPercentEncoded(text)) return null;
  const pairs = [...new URLSearchParams(text)];
  const fields = new Map(pairs);
  return fields.size < pairs.length || fields.size > MAX_PARAMETERS ? null : fields;
};
