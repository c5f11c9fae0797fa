import { type Form, PAGES, type Page } from '../../../src/adapters/http/forms/flow.ts';

/** The pages to which a form leads, each with the result that leads there. Its own page is left out. */
const stepsOf = (page: string, name: string, form: Form): (readonly [to: string, label: string])[] => {
  const { requiredField, leadsTo, withoutTarget, showsOnce, withoutSession, onError = {} } = form;
  const steps: (readonly [string | undefined, string])[] = [
    [leadsTo, name],
    [withoutTarget, `${name}, if for nothing else`],
    [showsOnce?.on, `${name}: ${showsOnce?.member}`],
    // Who is invited has proven the address.
    [requiredField === undefined ? withoutSession?.mail : undefined, `${name}: address to verify`],
    [withoutSession?.secondFactor, `${name}: factor to add`],
    [withoutSession?.code, `${name}: factor to add, without a password`],
    ...Object.entries(onError).map(([code, to]) => [to, `${name}: ${code}`] as const),
  ];
  return steps.flatMap(([to, label]) => (to === undefined || to === page ? [] : [[to, label] as const]));
};

/** A drawing of the flow of the pages, in Mermaid. */
export const flowDrawing = (): string => {
  const lines = Object.entries<Page>(PAGES).flatMap(([page, { path, stepUp, isSkipped, forms }]) => {
    const steps = Object.entries(forms).flatMap(([name, form]) => stepsOf(page, name, form));
    const arrows = [...Map.groupBy(steps, ([to]) => to)].map(
      ([to, those]) => ` -->|"${those.map(([, label]) => label).join('<br>')}"| ${to}`,
    );
    const around = [
      ...(stepUp ? [` -.->|"not shown lately"| ${isSkipped ? 'target' : 'step-up'}`] : []),
      ...(Object.values(forms).some(({ offersPasskey }) => offersPasskey)
        ? [' -.->|"no passkey yet"| new-passkey']
        : []),
    ];
    const [first = '', ...others] = [...around, ...arrows];
    return [`  ${page}["${path}"]${first}`, ...others.map((arrow) => `  ${page}${arrow}`)];
  });
  return ['```mermaid', 'flowchart LR', '  target(["what the visitor came for"])', ...lines, '```\n'].join('\n');
};

/** The page `docs/mail-and-pages.md`, with the drawing. */
export const withFlow = (page: string): string => page.replace(/```mermaid\n.*?```\n/s, () => flowDrawing());
