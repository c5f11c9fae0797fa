import * as v from 'valibot';
import type { FieldCode } from '../../domain/errors/app-error.ts';

/** What a text breaks. */
type Broken = { readonly code: FieldCode; readonly message: string };

/** A rule about a text that valibot does not have. `received` takes its code to the details of the error. @param check `null`: it is kept. */
export const textRule = (check: (text: string) => Broken | null) =>
  v.rawCheck<string>(({ dataset, addIssue }) => {
    const broken = dataset.typed ? check(dataset.value) : null;
    if (broken !== null) addIssue({ received: broken.code, message: broken.message });
  });
