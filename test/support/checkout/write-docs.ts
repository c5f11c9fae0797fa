import { writeFileSync } from 'node:fs';
import { asText, currentDocument, DOCUMENT } from '../openapi/current-document.ts';
import { withKinds, withTypes } from './events.ts';
import { withFlow } from './page-flow.ts';
import { withTests } from './proving-tests.ts';
import { ROOT, readText } from './repository.ts';
import { envExample, withVariables } from './variables.ts';
import { withWays } from './ways-in.ts';

/** `npm run docs` writes the generated parts of the documentation. */
writeFileSync(`${ROOT}.env.example`, envExample());
writeFileSync(`${ROOT}docs/configuration.md`, withVariables(readText('docs/configuration.md')));
writeFileSync(`${ROOT}docs/security.md`, withTests(withWays(readText('docs/security.md'))));
writeFileSync(`${ROOT}docs/assessments.md`, withTests(readText('docs/assessments.md')));
writeFileSync(`${ROOT}docs/spec-coverage.md`, withTests(readText('docs/spec-coverage.md')));
writeFileSync(`${ROOT}docs/mail-and-pages.md`, withFlow(readText('docs/mail-and-pages.md')));
writeFileSync(`${ROOT}docs/webhooks.md`, withTypes(readText('docs/webhooks.md')));
writeFileSync(`${ROOT}client/src/types.ts`, withKinds(readText('client/src/types.ts')));
writeFileSync(ROOT + DOCUMENT, asText(await currentDocument()));
