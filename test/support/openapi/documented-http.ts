import request, { type Response } from 'supertest';
import { readText } from '../checkout/repository.ts';
import { type AnswerCheck, answerCheck } from './answer-check.ts';

let check: AnswerCheck | undefined;

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head'] as const;

/** supertest for a service. */
export type Http = Pick<ReturnType<typeof request>, (typeof METHODS)[number]>;

/** supertest for a service in another process. An answer that is not as docs/openapi.json says fails. */
export const documentedHttp = (url: string): Http => {
  const http = request(url);
  const ask = (method: (typeof METHODS)[number]) => (path: string) => http[method](path).expect(assertDocumented);
  return Object.fromEntries(METHODS.map((method) => [method, ask(method)])) as Http;
};

const assertDocumented = (response: Response & { readonly req?: { method: string; path: string } }): void => {
  check ??= answerCheck(JSON.parse(readText('docs/openapi.json')));
  const { method = '', path = '' } = response.req ?? {};
  const answer = { status: response.status, headers: response.headers, body: method === 'HEAD' ? '' : response.text };
  const problems = check(method, path, answer);
  if (problems.length > 0) {
    throw new Error(`${method} ${path} ${response.status} is not as docs/openapi.json says: ${problems.join('; ')}`);
  }
};
