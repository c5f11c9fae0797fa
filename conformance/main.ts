import { type Options, parseOptions, Unusable, USAGE } from './options.ts';
import { linesOf, listOf, summaryLine, summaryOf } from './report.ts';
import { chosenChecks, runChecks } from './run.ts';

const print = (text: string) => process.stdout.write(`${text}\n`);
const note = (text: string) => process.stderr.write(`${text}\n`);

const check = async (options: Options): Promise<number> => {
  let group = '';
  const say = options.json ? note : print;
  const results = await runChecks(options, {
    onAccount: (username) => say(`${options.url.href}: registers the account ${username}, which stays there.`),
    onWait: (seconds) => note(`The rate limit is reached: waiting for ${seconds} s, as Retry-After says.`),
    onResult: (result) => {
      if (options.json) return;
      if (result.group !== group) print(`\n${result.group}`);
      group = result.group;
      print(linesOf(result));
    },
  });
  print(
    options.json
      ? JSON.stringify({ url: options.url.href, ...summaryOf(results), results }, null, 2)
      : `\n${summaryLine(results)}`,
  );
  return results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
};

const main = async (): Promise<number> => {
  const options = parseOptions(process.argv.slice(2));
  if (!options.help && !options.list) return check(options);
  print(options.help ? USAGE : listOf(chosenChecks(options)));
  return 0;
};

process.exitCode = await main().catch((error: unknown) => {
  note(
    error instanceof Unusable ? `${error.message}\n\n${USAGE}` : `the suite itself failed: ${(error as Error).stack}`,
  );
  return 2;
});
