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

/** The names of the members of an object schema. The schema may be optional, or the first of a pipe. */
export const memberNames = (schema: v.GenericSchema | undefined): readonly string[] => {
  if (schema === undefined) return [];
  if ('wrapped' in schema) return memberNames(schema.wrapped as v.GenericSchema);
  return 'entries' in schema ? Object.keys(schema.entries as object) : [];
};

/** Stage 8 for a form. Its fields, without empty ones except `requiredField`, become the body, the query and the params of the route `submits`. */
export const formValidation = ({ form, request: { query: pageQuery } }: Route): Middleware =>
  async function formValidation(ctx, next) {
    const { request } = form?.submits ?? {};
    const sentFields = await readForm(ctx);
    const fields = sentFields ?? new Map<string, string>();
    ctx.state.form = fields;
    if (sentFields === null) throw validationFailure([MALFORMED_FORM]);
    const problems: FieldProblem[] = [];
    const check = checkerInto(problems);
    const fieldsFor = (schema: v.GenericSchema | undefined): object =>
      Object.fromEntries(
        memberNames(schema).flatMap((name) => {
          if (name === 'extra') return extraFields(fields);
          const text = fields.get(name) ?? '';
          return text === '' && name !== form?.requiredField ? [] : [[name, fieldValue(name, text)]];
        }),
      );
    const [params, query, body] = (['params', 'query', 'body'] as const).map((place) =>
      check(request?.[place], { ...fieldsFor(request?.[place]), ...(place === 'params' && ctx.params) }, place),
    );
    check(pageQuery, fieldsFor(pageQuery), 'query');
    if (problems.length > 0) throw validationFailure(problems);
    ctx.state.input = { params, query, body };
    await next();
  };

/** Fields for a hook, which an operator's template may add: the field `extra.company` becomes the member `company` of `extra`. */
const extraFields = (fields: ReadonlyMap<string, string>): [string, unknown][] => {
  const extra = [...fields].filter(([name, text]) => name.startsWith('extra.') && text !== '');
  return extra.length === 0 ? [] : [['extra', Object.fromEntries(extra.map(([name, text]) => [name.slice(6), text]))]];
};

const TOKEN_FIELDS = ['token', 'invitation'];
const CHECKBOXES = ['remember', 'emailVerified', 'sendLink', 'final', 'handOver'];
const JSON_FIELDS = ['credential', 'attributes'];

/** A link with a token. In a browser without scripts, a user may paste the whole link into the field of the token. */
const TOKEN_IN_LINK = /(?:[#?&]|%23)token=([\w-]+)/;

const fieldValue = (name: string, text: string): unknown => {
  if (TOKEN_FIELDS.includes(name)) return TOKEN_IN_LINK.exec(text)?.[1] ?? text;
  if (CHECKBOXES.includes(name)) return text === 'on';
  return JSON_FIELDS.includes(name) ? parseObject(text) : text;
};

/** The fields of the posted form; `null`: it is malformed, has a field twice, or more than `MAX_PARAMETERS` fields. @throws HttpError as `readText` */
export const readForm = async (ctx: Context): Promise<ReadonlyMap<string, string> | null> => {
  const text = await readText(ctx, 'urlencoded');
  if (text === null || !isPercentEncoded(text)) return null;
  const pairs = [...new URLSearchParams(text)];
  const fields = new Map(pairs);
  return fields.size < pairs.length || fields.size > MAX_PARAMETERS ? null : fields;
};
